"""Unit tests of api/search/query."""
