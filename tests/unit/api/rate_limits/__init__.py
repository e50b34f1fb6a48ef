"""Rate limits without servers."""
