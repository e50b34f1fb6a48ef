"""Sandbox orders: they move by themselves."""
