"""Unit tests of indexer/products."""
