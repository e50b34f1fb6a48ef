"""Explains why a search finds an item or does not."""
