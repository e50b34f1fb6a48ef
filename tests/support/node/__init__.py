"""Places for nodes, small and secured ones."""
