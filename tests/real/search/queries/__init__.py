"""What a body finds, counts and groups, what it costs, and why."""
