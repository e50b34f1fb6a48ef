"""What tests of search share."""
