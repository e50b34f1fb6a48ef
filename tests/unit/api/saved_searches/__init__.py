"""Tests of saved searches."""
