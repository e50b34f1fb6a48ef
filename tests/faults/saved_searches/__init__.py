"""Faults below saved searches."""
