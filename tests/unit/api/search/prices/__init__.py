"""Price lists: requests and representations."""
