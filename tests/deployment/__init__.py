"""Tests of deploy/: each skips with a sentence where the tool that it needs is missing."""
