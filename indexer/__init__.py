"""Writes the index: catalogue files in, a checked new index behind the alias out."""
