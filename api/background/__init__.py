"""Work beside requests: tasks, workers, rows that fail. What a feature does in the background goes into its folder."""
