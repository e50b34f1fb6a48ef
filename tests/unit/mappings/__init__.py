"""Unit tests of mappings."""
