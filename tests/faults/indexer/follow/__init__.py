"""Faults below a follower."""
