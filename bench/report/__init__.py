"""Results as tables, curves and the page of the benchmarks."""
