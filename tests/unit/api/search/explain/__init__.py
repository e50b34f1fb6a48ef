"""Unit tests of api/search/explain."""
