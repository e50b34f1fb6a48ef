"""What `gear-indexer doctor` finds and repairs."""
