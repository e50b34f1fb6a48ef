"""Faults below orders and their callbacks: killed processes, full disks, lost databases."""
