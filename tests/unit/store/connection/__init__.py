"""Unit tests of store/connection."""
