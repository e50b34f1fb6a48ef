"""Suggestions while typing."""
