"""Unit tests of api/cli."""
