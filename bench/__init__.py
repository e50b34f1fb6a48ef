"""Benchmarks: this service beside its peers, in one run on the same data (`python -m bench --help`)."""
