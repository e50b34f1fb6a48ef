"""The schema's migrations: each adds to it, none goes back. A change of the schema goes to `versions`."""
