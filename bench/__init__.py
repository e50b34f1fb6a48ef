"""Benchmarks: sizes and durations in, ratios between this service and its peers, measured in one run, out."""
