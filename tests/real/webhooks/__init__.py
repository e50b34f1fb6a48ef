"""Callbacks: where they go, how they are signed, and who sends them."""
