"""Writes the index: loads catalogues, proves them, swaps the alias, applies live changes."""
