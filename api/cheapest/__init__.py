"""`POST /v1/gear/cheapest`: the cheapest items that a search finds, ordered in one call. It joins search and orders. A
rule that needs both goes here.
"""
