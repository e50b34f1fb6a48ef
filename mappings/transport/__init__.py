"""The API's way to the engine: HTTP connections, nodes, failover. Anything about connections goes here."""
