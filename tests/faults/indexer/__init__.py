"""Faults of loads: an engine that refuses or loses, a loader that dies."""
