"""Access tokens with their webhook secrets, and signing keys. What proves who a client or the service is goes here."""
