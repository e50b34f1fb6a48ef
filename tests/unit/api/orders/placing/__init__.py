"""Unit tests of api/orders/placing."""
