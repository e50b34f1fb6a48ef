"""Streams of changes without a server."""
