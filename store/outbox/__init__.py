"""What is still to be told: to the search index and to callback receivers."""
