"""Stores on both databases, buyers and saved searches."""
