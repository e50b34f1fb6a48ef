"""Live changes without a server."""
