"""Unit tests of api/search/schemas."""
