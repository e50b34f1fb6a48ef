"""What tests of faults share."""
