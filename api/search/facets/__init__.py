"""Counts the values of a search's hits by field: facets of strings, histograms of numbers. A new way to count goes
here.
"""
