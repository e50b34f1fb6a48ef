"""Rows that wait to be sent: callbacks and updates of the index."""
