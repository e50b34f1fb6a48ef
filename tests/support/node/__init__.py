"""What tests of the node share."""
