"""The services and stores that are measured side by side. A new peer goes here."""
