"""Tests of the containers; need a Docker engine."""
