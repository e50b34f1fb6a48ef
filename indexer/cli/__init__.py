"""The `gear-indexer` commands. A new command or option goes here."""
