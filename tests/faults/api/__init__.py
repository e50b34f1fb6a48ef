"""Faults that the API as a whole may meet."""
