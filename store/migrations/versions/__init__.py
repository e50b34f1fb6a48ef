"""One file a migration, by number."""
