"""Explains why a search finds an item or does not. The verdict of a new condition goes here."""
