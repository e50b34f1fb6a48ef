"""Tests that the documents say what the code does."""
