"""The errors of this package, each with a text that says what to do next."""


class NodeError(Exception):
    """A command was not carried out. The text says why, and what to do next."""


class DamagedDownloadError(NodeError):
    """Bytes arrived in full, but their SHA-256 is not the pinned one."""


class UnreachableError(NodeError):
    """A file could not be fetched."""
