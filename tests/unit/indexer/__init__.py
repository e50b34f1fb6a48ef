"""Unit tests of indexer."""
