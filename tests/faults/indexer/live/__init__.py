"""Faults during live changes."""
