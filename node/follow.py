"""The path of a growing log goes in; the text that is added to it comes out, over its rotation, until interrupted."""

from collections.abc import Iterator
from pathlib import Path
from time import sleep

_PAUSE = 0.25
"""Seconds between two looks at the file."""


def follow_file(path: Path) -> Iterator[str]:
    """Yield what is written to the file from now on. A file that was replaced or cut is read from its beginning."""
    file = path.open(encoding="utf-8", errors="replace")
    file.seek(0, 2)
    try:
        while True:
            if text := file.read():
                yield text
                continue
            sleep(_PAUSE)
            if _replaced(path, file.fileno(), file.tell()):
                file.close()
                file = path.open(encoding="utf-8", errors="replace")
    finally:
        file.close()


def _replaced(path: Path, descriptor: int, position: int) -> bool:
    """Whether another file has the name now, or the file became shorter than what was read."""
    import os

    if not path.exists():
        return False
    now, ours = path.stat(), os.fstat(descriptor)
    return now.st_ino != ours.st_ino or now.st_size < position
