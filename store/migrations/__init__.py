"""The schema's migrations, each one up and down. A change of the schema goes to `versions`."""
