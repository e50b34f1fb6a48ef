"""Unit tests of bench/workloads."""
