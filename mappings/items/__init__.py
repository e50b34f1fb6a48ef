"""The gear item: its shape, what is its own and what listings share, the tokens of its attachments, its digest. A new
field of an item goes here.
"""
