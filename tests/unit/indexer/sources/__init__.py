"""Unit tests of indexer/sources."""
