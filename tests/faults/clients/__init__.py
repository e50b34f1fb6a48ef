"""Faults between the clients and the service."""
