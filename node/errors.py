"""What went wrong and what to do about it goes in; the one exception of this package, ready to print, comes out."""


class NodeError(Exception):
    """Something asked for was not done. Its text says what, and what to do next."""


class DamagedDownloadError(NodeError):
    """Bytes arrived in full, but their SHA-256 is not the pinned one."""


class UnreachableError(NodeError):
    """A file could not be fetched; what did arrive is kept and the next attempt goes on from there."""
