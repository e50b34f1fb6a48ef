"""The client of OpenSearch that search, orders and platforms share. A new call to the engine goes here."""
