"""Indexer against real servers."""
