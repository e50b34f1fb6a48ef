"""Unit tests of api/search/groups."""
