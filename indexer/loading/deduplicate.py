"""An exact, compact set of the ids read so far.

A set of 32-bit hashes says at once that an id is new. Only an id whose hash is known, a true duplicate or one of the
few that share a hash, is looked up among the ids themselves: the last ones are in memory, the others in sorted runs in
a temporary file, which is mapped into memory.
"""

import tempfile
from array import array
from bisect import bisect_left
from contextlib import AbstractContextManager
from mmap import ACCESS_READ, mmap
from typing import IO

from pyroaring import BitMap

from indexer.loading.manifest import temporary_file_error

RUN_IDS = 262_144


class IdSet(AbstractContextManager["IdSet"]):
    """Ids of 64 bits with sign; a context, whose end removes the temporary file."""

    def __init__(self, *, run_ids: int = RUN_IDS) -> None:
        """`run_ids` are held in memory before they are written to the file."""
        self._run_ids = run_ids
        self._hashes = BitMap()
        self._recent: set[int] = set()
        self._file: IO[bytes] | None = None  # none is made for few ids
        self._written: memoryview[int] = memoryview(b"").cast("q")  # what is in the file

    def __exit__(self, *_: object) -> None:
        self._written.release()
        if self._file is not None:
            self._file.close()

    def add(self, number: int) -> bool:
        """Adds an id; True where it is new. Raises CommandError where it cannot be stored."""
        # Ids that differ in the lower half only, as those of one source mostly do, never share a hash.
        hashed = (number ^ (number >> 32) * 0x9E3779B1) & 0xFFFFFFFF
        if hashed in self._hashes:
            if number in self._recent or self._is_written(number):
                return False
        else:
            self._hashes.add(hashed)
        self._recent.add(number)
        if len(self._recent) >= self._run_ids:
            self._write_run()
        return True

    def _is_written(self, number: int) -> bool:
        ids = self._written
        for start in range(0, len(ids), self._run_ids):
            end = start + self._run_ids
            at = bisect_left(ids, number, start, end)
            if at < end and ids[at] == number:
                return True
        return False

    def _write_run(self) -> None:
        left = memoryview(array("q", sorted(self._recent))).cast("B")
        try:
            if self._file is None:
                # without a buffer, which would be written again, and fail again, when it is closed
                self._file = tempfile.TemporaryFile(buffering=0, prefix="gear-indexer-")  # noqa: SIM115  # closed with this
            while left:
                left = left[self._file.write(left) :]
            self._written = memoryview(mmap(self._file.fileno(), 0, access=ACCESS_READ)).cast("q")
        except OSError as error:
            raise temporary_file_error("ids (8 bytes each)", error) from error
        self._recent.clear()
