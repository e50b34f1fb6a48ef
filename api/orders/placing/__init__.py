"""Placing an order: the offer, its amounts, its additional fields, its idempotency key. A rule that only a new order
has goes here.
"""
