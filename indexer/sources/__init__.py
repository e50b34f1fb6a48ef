"""Reads sources: bytes to records, each with its line number. A new file format goes here."""
