"""The schema as a line of steps, each one up and down."""
