"""An exact, compact set of the ids read so far.

A set of marks of 32 bits says at once that an id is new. Only an id whose mark is known, a true duplicate or one of the
few that share a mark, is looked up among the ids themselves: the last ones are in memory, the others in sorted runs in
a temporary file, of which every 512th id is in memory.
"""

import tempfile
from array import array
from bisect import bisect_left, bisect_right
from contextlib import AbstractContextManager
from typing import IO, NamedTuple

from pyroaring import BitMap

from indexer.loading.manifest import temporary_file_error

RUN_IDS = 262_144
STEP = 512  # ids between two that are kept in memory, and that are read at once: 4 KiB
_ID_BYTES = 8


class _Run(NamedTuple):
    """Sorted ids in the file from a byte on, and the first of each step."""

    file: IO[bytes]
    start: int
    length: int
    last: int
    firsts: "array[int]"


class IdSet(AbstractContextManager["IdSet"]):
    """Ids of 64 bits with sign; a context, whose end removes the temporary file."""

    def __init__(self, *, run_ids: int = RUN_IDS, step: int = STEP) -> None:
        """`run_ids` are held in memory before they are written to the file."""
        self._run_ids = run_ids
        self._step = step
        self._marks = BitMap()
        self._recent: set[int] = set()
        self._runs: list[_Run] = []
        self._file: IO[bytes] | None = None  # none is made for few ids
        self._size = 0

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, number: int) -> bool:
        """Adds an id; True where it is new. Raises CommandError where it cannot be stored."""
        # Ids that differ in the lower half only, as those of one source mostly do, never share a mark.
        mark = (number ^ (number >> 32) * 0x9E3779B1) & 0xFFFFFFFF
        if mark in self._marks:
            if number in self._recent or any(self._is_in(run, number) for run in self._runs):
                return False
        else:
            self._marks.add(mark)
        self._recent.add(number)
        if len(self._recent) >= self._run_ids:
            self._write_run()
        return True

    def _is_in(self, run: _Run, number: int) -> bool:
        if not run.firsts[0] <= number <= run.last:
            return False
        step = bisect_right(run.firsts, number) - 1
        ids = array("q")
        try:
            run.file.seek(run.start + step * self._step * _ID_BYTES)
            ids.frombytes(run.file.read(_ID_BYTES * min(self._step, run.length - step * self._step)))
        except OSError as error:
            raise temporary_file_error("ids (8 bytes each)", error) from error
        place = bisect_left(ids, number)
        return place < len(ids) and ids[place] == number

    def _write_run(self) -> None:
        ids = array("q", sorted(self._recent))
        try:
            if self._file is None:
                # without a buffer, which would be written again, and fail again, when it is closed
                self._file = tempfile.TemporaryFile(buffering=0, prefix="gear-indexer-")  # noqa: SIM115  # closed with this
            self._file.seek(self._size)
            left = memoryview(ids).cast("B")
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise temporary_file_error("ids (8 bytes each)", error) from error
        self._runs.append(_Run(self._file, self._size, len(ids), ids[-1], ids[:: self._step]))
        self._size += len(ids) * _ID_BYTES
        self._recent.clear()
