"""Saved searches that call back, on a real engine and to a real receiver."""
