"""Unit tests of api/search."""
