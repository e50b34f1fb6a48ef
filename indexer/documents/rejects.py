"""Writes refused items to the rejects file, one JSON line each: file, line, id, field, value, reason."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from indexer.documents.refusal import Refusal
from indexer.errors import CommandError

# Nearly all rules are fixed sentences; a few quote a value, so their texts may be as many as the items.
MAX_REASONS = 100
OTHER_REASONS = "others"
# What differs between two refusals of one kind: the position within the text, the number of an attachment.
_POSITION = re.compile(r"(?: at|:) line \d+ column \d+(?: \(char \d+\))?")
_NUMBERED = re.compile(r"\.\d+(?=\.|$)")


def count_reason(reasons: Counter[str], refusal: Refusal) -> None:
    """Counts a refusal by its field and rule, without what differs between two of one kind."""
    kind = _POSITION.sub("", refusal.reason)
    if refusal.field is not None:
        kind = f"{_NUMBERED.sub('.*', refusal.field)}: {kind}"
    reasons[kind if kind in reasons or len(reasons) < MAX_REASONS else OTHER_REASONS] += 1


def reject_row(source: str, line: int, item_id: int | None, refusals: tuple[Refusal, ...]) -> dict[str, Any]:
    """One refused item: its first refusal in full, the fields of the others below `more`."""
    first, *others = refusals
    row: dict[str, Any] = {
        "file": source,
        "line": line,
        "id": item_id,
        "field": first.field,
        "value": first.value,
        "reason": first.reason,
    }
    if others:
        row["more"] = [{"field": refusal.field, "reason": refusal.reason} for refusal in others]
    return row


class RejectsFile(AbstractContextManager["RejectsFile"]):
    """Creates the file at the first reject; `path` is None until then. An older file is replaced, or appended to."""

    def __init__(self, target: Path, *, append: bool = False) -> None:
        self._target = target
        self._mode: Literal["ab", "wb"] = "ab" if append else "wb"
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()
        self._reasons: Counter[str] = Counter()
        self.path: str | None = None

    def reasons(self) -> dict[str, int]:
        """Refused items by the field and rule of their first refusal, the most frequent first."""
        with self._lock:
            return dict(self._reasons.most_common())

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, source: str, line: int, item_id: int | None, refusals: tuple[Refusal, ...]) -> None:
        row = reject_row(source, line, item_id, refusals)
        with self._lock:
            count_reason(self._reasons, refusals[0])
            with self._errors_named():
                if self._file is None:
                    self._file = self._target.open(self._mode)
                    self.path = str(self._target)
                self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def flush(self) -> None:
        """Writes what is buffered; raises CommandError where that fails."""
        if self._file is not None:
            with self._errors_named():
                self._file.flush()

    def close(self) -> None:
        """Writes what is buffered; raises CommandError where that fails."""
        if self._file is not None:
            with self._errors_named():
                self._file.close()

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CommandError(
                f"the rejects file {self._target} cannot be written ({error.strerror}): name another with --rejects"
            ) from error
