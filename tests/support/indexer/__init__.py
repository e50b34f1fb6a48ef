"""Loads, followers and live changes, and what they write, as tests of indexer use them."""
