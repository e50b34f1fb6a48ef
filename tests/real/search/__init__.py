"""Search against real servers."""
