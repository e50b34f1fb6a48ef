"""Entries of the vocabulary, and what they change."""
