"""Faults of the engine below searches."""
