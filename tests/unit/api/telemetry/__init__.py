"""Metrics, logs and traces, without a server."""
