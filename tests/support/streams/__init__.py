"""A source whose changes are told by several ways at once, and the processes of a shop that may be killed."""
