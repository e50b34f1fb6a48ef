"""Writes to the catalogue over HTTP: the one folder of the API that writes items, by the rules of the indexer. A new
way to write single items goes here.
"""
