"""Tests without a network, mirroring the packages."""
