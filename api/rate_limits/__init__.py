"""Rate limits: the rules, who is charged, and what is left. What a request costs is defined in its feature."""
