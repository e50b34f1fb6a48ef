"""What tests of orders share."""
