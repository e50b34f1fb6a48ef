"""What an item is, and how it is stored and given back."""
