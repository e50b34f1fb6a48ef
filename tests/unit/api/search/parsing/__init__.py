"""Unit tests of api/search/parsing."""
