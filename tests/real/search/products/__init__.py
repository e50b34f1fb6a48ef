"""Texts ask the products, listings name theirs: what may come between the two."""
