"""Suggestions while typing: which values have the typed words, and how many items on offer have them. A new source of
suggestions, or their order, goes here.
"""
