"""Tests against a real OpenSearch and real databases."""
