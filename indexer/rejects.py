"""Rejects: refused items in, one JSON line each in the rejects file out: file, line, id, field, value, reason."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from indexer.document import Fault
from indexer.failures import CommandError


def reject_row(source: str, line: int, number: int | None, faults: tuple[Fault, ...]) -> dict[str, Any]:
    """One refused item: its first fault in full, the fields of the others below `more`."""
    first, *others = faults
    row: dict[str, Any] = {
        "file": source,
        "line": line,
        "id": number,
        "field": first.field,
        "value": first.value,
        "reason": first.reason,
    }
    if others:
        row["more"] = [{"field": fault.field, "reason": fault.reason} for fault in others]
    return row


class RejectsFile:
    """Made at the first reject, in the place of an older one; `path` is what was made, None while there is nothing."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()
        self.path: Path | None = None

    def __enter__(self) -> "RejectsFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None and not self._file.closed:
            self.close()

    def write(self, source: str, line: int, number: int | None, faults: tuple[Fault, ...]) -> None:
        """Writes one refused item."""
        row = reject_row(source, line, number, faults)
        with self._lock:
            try:
                if self._file is None:
                    self._file = self._target.open("wb")
                    self.path = self._target
                self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            except OSError as error:
                raise self._unwritable(error) from error

    def close(self) -> None:
        """Writes what is buffered; raises CommandError where that fails."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> CommandError:
        return CommandError(
            f"the rejects file {self._target} cannot be written ({error.strerror}): name another with --rejects"
        )
