"""`/v1/searches`: saved searches, which call back when an item comes to match. What matches items against them goes
here; what sends the callbacks is in `webhooks`.
"""
