"""What operators watch in one answer: what serves, what is being loaded, what waits, and whether the engine is well."""
