"""Bytes to items with line numbers. A new file format goes here."""
