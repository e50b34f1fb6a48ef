"""Unit tests of api/orders."""
