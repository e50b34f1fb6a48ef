"""A small disk: a folder and megabytes in, a real file system of that size out, to be filled."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class SmallDisk:
    """A mounted file system of its own."""

    folder: Path

    def fill(self) -> None:
        """Leaves no block free."""
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            for size in (65_536, 4_096):
                self._fill(filler.fileno(), b"x" * size)

    def make_room(self) -> None:
        """Gives back what `fill` took."""
        (self.folder / "filler").unlink()

    def _fill(self, file: int, block: bytes) -> None:
        try:
            while os.write(file, block):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """A disk mounted at the folder while the block lasts. Skips the test where this account must not mount one."""
    folder.mkdir(parents=True)
    program = shutil.which("mount")
    command = [program or "mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "gear-test", str(folder)]
    done = None if program is None else subprocess.run(command, capture_output=True, text=True, check=False)
    if done is None or done.returncode:
        pytest.skip("only root may mount a small disk: run the tests as root to see what a full one does")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # mount was found on the same path
