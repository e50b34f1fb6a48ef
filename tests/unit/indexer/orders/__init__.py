"""Unit tests of indexer/orders."""
