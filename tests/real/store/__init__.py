"""Store against real servers."""
