"""Unit tests of bench/peers."""
