"""The schema's migrations, each one up and down."""
