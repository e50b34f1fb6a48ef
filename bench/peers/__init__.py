"""The services and indexes that are measured side by side, and how they are started. A new peer goes here."""
