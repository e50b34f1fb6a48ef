"""Writes to the catalogue over HTTP, on a real engine."""
