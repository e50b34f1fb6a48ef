"""Writes the index: loads catalogues, proves them, swaps the alias, applies live changes. What writes the index goes
here, what reads it to `api`.
"""
