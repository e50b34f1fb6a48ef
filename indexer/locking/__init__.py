"""The lock of an alias: one load at a time. What takes, renews or ends a lock goes here."""
