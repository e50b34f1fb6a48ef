"""Placing an order: the offer, its amounts, its additional fields, its idempotency key."""
