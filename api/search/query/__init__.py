"""Query building: a parsed body to request bodies for the engine. Pure. A new clause goes here."""
