"""Orders and their lists, idempotency keys, erasure of personal data, sandbox moves: each statement on orders."""
