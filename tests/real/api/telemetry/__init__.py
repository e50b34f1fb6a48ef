"""Metrics and traces of running processes."""
