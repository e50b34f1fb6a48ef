"""Unit tests of the package `node`."""
