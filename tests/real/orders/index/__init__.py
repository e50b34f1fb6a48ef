"""What orders bind, and what the index offers of it."""
