"""Unit tests of api/search/facets."""
