"""Cursor pagination over a point in time."""
