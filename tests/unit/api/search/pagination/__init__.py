"""Unit tests of api/search/pagination."""
