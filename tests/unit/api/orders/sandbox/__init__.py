"""Unit tests of api/orders/sandbox."""
