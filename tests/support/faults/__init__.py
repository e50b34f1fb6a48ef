"""Proxies, servers and clusters that fail as they are told, and clients that meet them."""
