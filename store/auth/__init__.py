"""Access tokens, webhook secrets and signing keys."""
