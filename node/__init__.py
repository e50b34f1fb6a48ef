"""gear-node: a real OpenSearch on this machine without containers. What runs the server goes here, what is asked of it
to `indexer` or `api`.
"""
