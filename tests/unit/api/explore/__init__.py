"""The page /explore without a server."""
