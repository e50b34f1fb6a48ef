"""Counts the values of a search's hits by field: facets of strings, histograms of numbers."""
