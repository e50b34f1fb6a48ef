"""Unit tests of indexer/cli."""
