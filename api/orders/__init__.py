"""Orders: a validated body in, rules applied, one transaction in the store, an order out."""
