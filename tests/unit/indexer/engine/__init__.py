"""Unit tests of indexer/engine."""
