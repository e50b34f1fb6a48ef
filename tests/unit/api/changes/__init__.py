"""The change feed without servers."""
