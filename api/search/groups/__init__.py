"""Groups: one hit for each name, with its offers."""
