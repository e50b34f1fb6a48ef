"""The store against real databases: what no folder here is about, such as the audit and the state of the feed."""
