"""Products of generations: made and removed as one with the listings, and brought along by live changes."""
