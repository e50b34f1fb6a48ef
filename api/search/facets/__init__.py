"""Facets: their requests, their counts, their histograms. A new kind of facet goes here."""
