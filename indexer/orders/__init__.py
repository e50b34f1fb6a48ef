"""Items that orders bind, marked in the index and compared with the store. What marks them, or finds what is marked
wrongly, goes here.
"""
