"""Unit tests of api/search/relaxation."""
