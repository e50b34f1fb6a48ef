"""Search: a validated body in, request bodies for the engine out, its answers shaped back."""
