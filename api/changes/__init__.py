"""`POST /v1/gear/changes`: the recorder writes what changes in the indices to a log, and readers search that."""
