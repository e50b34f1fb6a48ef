"""Unit tests of indexer/documents."""
