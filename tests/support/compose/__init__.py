"""Deployments of the compose files."""
