"""Rejects: refused items in, one JSON line each in the rejects file out: file, line, id, field, value, reason."""

import re
import threading
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from indexer.documents.document import Fault
from indexer.engine.failures import CommandError

# Nearly all rules are fixed sentences; a few quote what they found, and may be as many as the items.
MOST_REASONS = 100
OTHER_REASONS = "others"
# What differs between two faults of one kind: the place within the text, the number of an attachment.
_WITHIN_TEXT = re.compile(r"(?: at|:) line \d+ column \d+(?: \(char \d+\))?")
_NUMBERED = re.compile(r"\.\d+(?=\.|$)")


def kind_of(fault: Fault) -> str:
    """A fault's field and rule, without what differs between two faults of one kind."""
    reason = _WITHIN_TEXT.sub("", fault.reason)
    return reason if fault.field is None else f"{_NUMBERED.sub('.*', fault.field)}: {reason}"


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
        self._reasons: Counter[str] = Counter()
        self.path: Path | None = None

    def reasons(self) -> dict[str, int]:
        """How many items each first fault has refused, by field and rule, the most frequent first."""
        with self._lock:
            return dict(self._reasons.most_common())

    def __enter__(self) -> "RejectsFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None and not self._file.closed:
            self.close()

    def write(self, source: str, line: int, number: int | None, faults: tuple[Fault, ...]) -> None:
        """Writes one refused item."""
        row = reject_row(source, line, number, faults)
        kind = kind_of(faults[0])
        with self._lock:
            self._reasons[kind if kind in self._reasons or len(self._reasons) < MOST_REASONS else OTHER_REASONS] += 1
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
