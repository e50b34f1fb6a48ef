"""A folder in memory, where the machine has plenty: what commits or creates an index waits for the disk, often."""

import os
from pathlib import Path
from shutil import disk_usage
from typing import Final

_MEMORY: Final = Path("/dev/shm")
_NEEDED: Final = 4 * 2**30


def memory_for_tests() -> Path | None:
    """The folder, where every account may write as in the system's temporary one; None: there is too little memory."""
    if not _MEMORY.is_dir() or disk_usage(_MEMORY).free < _NEEDED:
        return None
    folder = _MEMORY / f"gear-tests-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o1777)
    return folder
