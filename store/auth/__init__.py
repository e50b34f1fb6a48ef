"""Access tokens with their webhook secrets, and signing keys."""
