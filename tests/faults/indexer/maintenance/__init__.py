"""Faults during exports, and beside a restored database."""
