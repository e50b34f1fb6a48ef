"""A real OpenSearch on this machine without containers: get, check, start, stop."""
