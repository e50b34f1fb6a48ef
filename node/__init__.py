"""gear-node: a real OpenSearch on this machine without containers."""
