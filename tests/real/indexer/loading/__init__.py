"""Loads: what is read, written, proved, resumed and refused."""
