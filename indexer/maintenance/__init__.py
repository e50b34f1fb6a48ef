"""Status, rollback, prune and export. A new command on generations goes here."""
