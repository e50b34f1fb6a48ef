"""Tests of pages in a real Chromium."""
