"""Faults between listings and their products."""
