"""The error that every command explains in one sentence. A leaf: any package here may raise it."""


class CommandError(Exception):
    """A command could not do what was asked; the message is one sentence that says what to do next."""
