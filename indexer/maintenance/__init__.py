"""Status, rollback, prune and export."""
