"""The API's way to the engine: HTTP connections, host names, nodes, failover. What carries requests goes here; settings
and the clients made of them are in `mappings.connection`.
"""
