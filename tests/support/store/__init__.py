"""What tests of store share."""
