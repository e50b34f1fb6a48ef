"""Unit tests of bench/runs."""
