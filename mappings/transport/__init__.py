"""The API's way to the engine: HTTP connections, host names, nodes, failover. Anything about connections goes here."""
