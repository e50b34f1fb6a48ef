"""Unit tests of api/engine."""
