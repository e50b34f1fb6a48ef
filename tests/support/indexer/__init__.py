"""What tests of indexer share."""
