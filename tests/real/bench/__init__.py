"""The benchmarks' own tools, against a real engine."""
