"""What typed texts find and suggest."""
