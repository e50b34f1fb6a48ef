"""Pages of a served app in a real browser."""
