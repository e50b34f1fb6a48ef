"""Unit tests of indexer/locking."""
