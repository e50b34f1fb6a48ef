"""The change feed, read beside everything that changes items."""
