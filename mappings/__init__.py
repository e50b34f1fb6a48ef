"""The contract between who writes the index and who reads it: shape, names, address."""
