"""Unit tests of api/search/suggest."""
