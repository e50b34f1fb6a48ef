"""Turns an item into an index document, or refuses it with reasons. A new field goes here."""
