"""Tokens and the keys that the service signs with."""
