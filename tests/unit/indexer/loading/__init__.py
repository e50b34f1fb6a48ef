"""Unit tests of indexer/loading."""
