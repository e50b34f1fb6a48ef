"""Unit tests of indexer/sample."""
