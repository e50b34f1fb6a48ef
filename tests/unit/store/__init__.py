"""Unit tests of store."""
