"""A shop with its orders and receivers, and processes that may be killed."""
