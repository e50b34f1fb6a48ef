"""The error of this package, with a text that says what to do next."""


class NodeError(Exception):
    """A command was not carried out. The text says why, and what to do next."""
