"""Answers of the engine: what its client returned or raised in; whole answers out, or an error in their place.

Items stay the JSON that they were loaded as: they are cut out of the answer and put into ours unread.
"""

from typing import Any, TypedDict, TypeVar

import msgspec
import structlog
from opensearchpy.exceptions import NotFoundError, TransportError

from api.errors import ApiError

log = structlog.get_logger("gear.api")

# What the engine answers with a 400 while the request is a good one.
_CANNOT_NOW = ("index_closed_exception",)

# The engine has forgotten a view: kept too long, closed, or its node was started anew.
_NO_VIEW = "search_context_missing_exception"
# A field that is asked for stands only in newer definitions than the index's.
_NO_FIELD = "no mapping found for"
_NO_MORE_VIEWS = "search.max_open_pit_context"
RETRY_AFTER_VIEWS_SECONDS = 30  # of hundreds of views, each kept for minutes, some are free by then


class _Source(TypedDict, total=False):
    item: msgspec.Raw


class Hit(TypedDict, total=False):
    _source: _Source
    sort: list[Any]


class _Hits(TypedDict, total=False):
    total: dict[str, Any]
    hits: list[Hit]


class Answer(TypedDict, total=False):
    """What is read of an answer to a search."""

    timed_out: bool
    _shards: dict[str, Any]
    hits: _Hits
    aggregations: dict[str, Any]
    status: int
    error: Any


class _Answers(TypedDict, total=False):
    responses: list[Answer]


Read = TypeVar("Read")

_answer = msgspec.json.Decoder(Answer)
_answers = msgspec.json.Decoder(_Answers)
_anything = msgspec.json.Decoder(dict[str, Any])


def read_answer(text: bytes) -> Answer:
    """The answer to a search; raises ApiError `search_unavailable` for what no search engine answers."""
    return _read(_answer, text)


def read_answers(text: bytes) -> list[Answer]:
    """The answers to the searches of one request; raises as `read_answer`."""
    return _read(_answers, text).get("responses", [])


def read(text: bytes) -> dict[str, Any]:
    """Any other answer; raises as `read_answer`."""
    return _read(_anything, text)


def _read(decoder: msgspec.json.Decoder[Read], text: bytes) -> Read:
    try:
        return decoder.decode(text)
    except ValueError as error:  # no JSON, or JSON of another shape
        log.error("what answers is no search engine; see GEAR_OPENSEARCH_URL", answer=str(text[:100], errors="replace"))
        raise ApiError("search_unavailable") from error


def whole(answer: Answer) -> Answer:
    """The answer as it is; raises ApiError `search_unavailable` where it is only a part."""
    shards = answer.get("_shards", {})
    if answer.get("timed_out") or shards.get("failed") or not shards.get("total"):
        raise partial(shards=shards, timedOut=answer.get("timed_out"))
    return answer


def each(answers: list[Answer], count: int) -> list[Answer]:
    """The answers to `count` searches of one request, each of them whole; raises what one of them was refused with."""
    for one in answers:
        if "error" in one:
            raise told(TransportError(one.get("status", 500), str(one["error"].get("type")), one))
    if len(answers) != count:
        raise partial(searches=count, answers=len(answers))
    return [whole(one) for one in answers]


def partial(**about: Any) -> ApiError:
    """The error to raise for an answer that lacks something, with what is known of it for the log."""
    log.error("partial answer of the engine", **about)
    return ApiError("search_unavailable", "the search engine gave only a part of the answer")


def told(error: TransportError) -> Exception:
    """What an error of the client means here: an answer, an outage, or a fault of ours as it is."""
    body = error.info if isinstance(error.info, dict) else {}
    kind = body["error"].get("type") if isinstance(body.get("error"), dict) else None
    known = _known(body, kind)
    if known is not None:
        return known
    if isinstance(error, NotFoundError) and (
        body.get("found") is False or kind == "document_missing_exception" or _names_an_alias(body)
    ):
        return MissingError(body)
    if error.status_code in (400, 413) and kind is not None and kind not in _CANNOT_NOW:
        return error  # a request that the engine refuses is a fault of ours
    log.warning("the search engine refuses", status=error.status_code, cause=str(error.error)[:300])
    return ForbiddenError() if error.status_code == 403 else ApiError("search_unavailable")


def _known(body: dict[str, Any], kind: str | None) -> Exception | None:
    """What the engine names a reason for that we know."""
    if kind == "index_not_found_exception":
        return NotLoadedError(str(body["error"].get("index", "the index")))
    if any(cause.get("type") == _NO_VIEW for cause in _causes(body)):
        return ViewGoneError()
    if any(_NO_MORE_VIEWS in str(cause.get("reason")) for cause in _causes(body)):
        log.warning("the search engine takes no more cursors; see search.max_open_pit_context in docs/operations.md")
        return TooManyViewsError()
    if any(_NO_FIELD in str(cause.get("reason")).lower() for cause in _causes(body)):
        log.error("an index has an older definition: load its catalogue again", cause=str(body["error"])[:300])
        return ApiError("search_unavailable", "this needs an index of a newer definition: load the catalogue again")
    return None


def _causes(body: dict[str, Any]) -> list[dict[str, Any]]:
    error = body.get("error")
    causes = error.get("root_cause") if isinstance(error, dict) else None
    return [cause for cause in causes if isinstance(cause, dict)] if isinstance(causes, list) else []


class ViewGoneError(Exception):
    """The engine does not have a view any more."""


class TooManyViewsError(ApiError):
    """The engine holds as many views as it may."""

    def __init__(self) -> None:
        super().__init__(
            "search_unavailable",
            "too many cursors are being read: read one to its end, or start yours later",
            headers={"Retry-After": str(RETRY_AFTER_VIEWS_SECONDS)},
        )


class ForbiddenError(ApiError):
    """The engine's user may not ask this."""

    def __init__(self) -> None:
        super().__init__("search_unavailable")


class MissingError(Exception):
    """The engine has an index but not the document or alias that was asked for."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("not found")
        self.body = body


class NotLoadedError(ApiError):
    """A platform's index does not exist: its catalogue has never been loaded."""

    def __init__(self, index: str) -> None:
        super().__init__("search_unavailable", f"{index} does not exist yet: load the catalogue with gear-indexer load")
        self.index = index


def _names_an_alias(body: dict[str, Any]) -> bool:
    return str(body.get("error")).startswith("alias")
