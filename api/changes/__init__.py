"""`POST /v1/gear/changes`: the recorder writes what changes in the indices to a log, and readers search that. What
fills the log or reads it goes here.
"""
