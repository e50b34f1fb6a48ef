"""Orders against real servers."""
