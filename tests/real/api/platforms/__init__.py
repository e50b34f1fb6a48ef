"""Platforms as the service lists them, and several of them at once."""
