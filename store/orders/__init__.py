"""Orders, their lists, idempotency keys, personal data and sandbox moves."""
