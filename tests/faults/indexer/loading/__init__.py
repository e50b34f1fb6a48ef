"""Faults during a load."""
