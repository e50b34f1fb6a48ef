"""`/v1/searches`: saved searches, which call back when an item comes to match."""
