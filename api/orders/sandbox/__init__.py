"""Sandbox orders, which move by themselves. A new way for them to move goes here."""
