"""The lock of an alias: one load at a time."""
