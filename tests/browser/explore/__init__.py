"""Tests of `/explore` in a real Chromium, on listings of the real catalogue and hostile ones."""
