"""A load: fill, check, prove, swap. A new rule before the swap goes here."""
