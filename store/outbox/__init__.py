"""Work that an order's transaction leaves for later: updates of the search index, callbacks to clients. A further kind
of work for later goes here.
"""
