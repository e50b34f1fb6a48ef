"""Faults: what breaks below the services and how they answer."""
