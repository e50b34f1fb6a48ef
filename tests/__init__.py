"""Tests: unit mirrors the packages, real runs against real servers, faults breaks them."""
