"""Unit tests of api/webhooks."""
