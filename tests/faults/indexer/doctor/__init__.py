"""Faults while the doctor examines and repairs."""
