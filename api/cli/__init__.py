"""The `gear-api` commands. A new command goes here."""
