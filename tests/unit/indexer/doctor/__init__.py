"""Unit tests of indexer/doctor."""
