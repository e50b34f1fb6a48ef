"""What the writer and the reader of the index share: its shape, its names, its platforms, the connection to it. What
only one of the two needs goes to its own package.
"""
