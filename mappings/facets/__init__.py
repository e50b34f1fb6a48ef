"""What an item carries so that its facets are counted fast: its values as one, and the buckets of histograms."""
