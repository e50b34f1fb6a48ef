"""A real file system of a few megabytes, which tests fill."""

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

HOW = "only root may mount a small disk: run the tests as root to see what a full one does"


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
def small_disk(megabytes: int) -> Iterator[SmallDisk]:
    """A disk mounted while the block lasts, where every account may look. Skips the test where none may be mounted.

    It is not below the folders of pytest: each run of it closes these to other accounts anew.
    """
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip(HOW)
    with tempfile.TemporaryDirectory(prefix="gear-disk-") as name:
        folder = Path(name)
        command = [mount, "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "gear-test", name]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(HOW)
        folder.chmod(0o755)
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run([umount, "--lazy", name], check=True)
