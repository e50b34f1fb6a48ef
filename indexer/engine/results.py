"""Results of bulk requests: changes in, what the engine made of each out, once all that had to wait was sent again."""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from http import HTTPStatus
from typing import Any, TypeVar

from opensearchpy.exceptions import OpenSearchException

from indexer.engine.bulk import reason_of
from indexer.engine.failures import CommandError, may_pass
from indexer.engine.retry import Patience
from mappings.engine_errors import cause, disk_full, is_disk_full

Change = TypeVar("Change")


class Outcome(Enum):
    """What became of one change in one index."""

    DONE = "done"
    MISSING = "missing"  # a delete of what was not there
    SUPERSEDED = "superseded"  # a later change is there already
    REFUSED = "refused"


class GoneError(CommandError):  # what happened, beside the error that it is a kind of
    """The alias that was written through does not exist any more: the load behind it has ended."""


def outcome_of(result: dict[str, Any]) -> Outcome:
    """What one result says; raises GoneError where the alias is gone."""
    status = result["status"]
    if status in (HTTPStatus.OK, HTTPStatus.CREATED):
        return Outcome.DONE
    if status == HTTPStatus.CONFLICT:
        return Outcome.SUPERSEDED
    if status == HTTPStatus.NOT_FOUND:
        if "error" not in result:
            return Outcome.MISSING
        raise GoneError(reason_of(result))
    return Outcome.REFUSED


def send_all(
    changes: Sequence[Change], send: Callable[[list[Change]], list[dict[str, Any]]], patience: Patience
) -> Iterator[tuple[Change, dict[str, Any]]]:
    """Each change with its final result; what may pass is sent again as long as patience lasts.

    Raises GivenUpError, and CommandError for a disk that is full.
    """
    left = list(changes)
    waits = patience.waits()
    while left:
        again: list[Change] = []
        try:
            results = send(left)
        except OpenSearchException as error:
            if not may_pass(error):
                raise
            waits.wait(cause(error))
            continue
        reason = ""
        for change, result in zip(left, results, strict=True):
            if result["status"] == HTTPStatus.TOO_MANY_REQUESTS or result["status"] >= 500:
                again.append(change)
                reason = reason_of(result)
                if is_disk_full(reason):
                    raise CommandError(disk_full(reason))
            else:
                yield change, result
        if len(again) < len(left):
            waits.progress()
        left = again
        if left:
            waits.wait(reason)
