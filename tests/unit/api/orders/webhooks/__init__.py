"""Unit tests of api/orders/webhooks."""
