"""Unit tests of mappings/vocabulary."""
