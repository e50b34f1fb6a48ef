"""Unit tests of api/http."""
