"""Maps errors of the OpenSearch client to what they mean for a request."""

from typing import Any

from opensearchpy.exceptions import NotFoundError, TransportError

from api.engine.responses import EngineResponse, all_of, all_shards_of
from api.errors import ApiError
from api.log import log

LOAD_AGAIN = "load the catalogue again with gear-indexer load"
REPAIR = f"gear-indexer doctor --fix repairs it, or says to {LOAD_AGAIN}"
TOO_MANY_PITS_RETRY_AFTER_SECONDS = 30  # of hundreds of points in time, each kept for minutes, some are free by then

# The engine answers these with a 400 although the request is valid.
_TEMPORARY = ("index_closed_exception",)
NO_INDEX = "index_not_found_exception"
# Why a search ends whose node is lost: which copy is read is fixed once its first phase is over.
_NODE_LOST = frozenset(
    f"{reason}_exception" for reason in ("node_closed", "node_disconnected", "node_not_connected", "connect_transport")
)
# Why a search ends whose shards were gone when it came to them, without a cause: their index was removed after a load,
# or their node was lost.
_ALL_SHARDS = "all shards failed"
# The engine no longer has the point in time: it expired, was closed, or its node restarted.
_PIT_GONE = "search_context_missing_exception"
_TOO_MANY_PITS = "search.max_open_pit_context"
# The request names a field that only newer index definitions have.
_UNKNOWN_FIELD = "no mapping found for"


class PitGoneError(Exception):
    """The engine no longer has the point in time."""


class TooManyPitsError(ApiError):
    """The engine has as many open points in time as it allows."""


class ForbiddenError(ApiError):
    """The engine's user lacks a permission."""


class MissingError(Exception):
    """The index exists but not the document or alias that was requested."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("not found")
        self.body = body


class ShardsLostError(ApiError):
    """A search lost its shards on the way; copies of them are on other nodes, or another index has the alias."""


class NotLoadedError(ApiError):
    """A platform's index does not exist: its catalogue has never been loaded."""

    def __init__(self, index: str) -> None:
        super().__init__("search_unavailable", f"{index} does not exist yet: load the catalogue with gear-indexer load")
        self.index = index


def map_engine_error(error: TransportError) -> Exception:
    """The error to raise for a client's: an ApiError, a reason that callers handle, or the same for a bug of ours."""
    body = error.info if isinstance(error.info, dict) else {}
    kind = body["error"].get("type") if isinstance(body.get("error"), dict) else None
    reason = _known_reason(body, kind)
    if reason is not None:
        return reason
    if isinstance(error, NotFoundError) and (
        body.get("found") is False or kind == "document_missing_exception" or str(body.get("error")).startswith("alias")
    ):
        return MissingError(body)
    if error.status_code in (400, 413) and kind is not None and kind not in _TEMPORARY:
        return error  # the engine refuses our request: a bug
    log.warning("the search engine refuses", status=error.status_code, cause=str(error.error)[:300])
    return (ForbiddenError if error.status_code == 403 else ApiError)("search_unavailable")


def all_responses(responses: list[EngineResponse], count: int) -> list[EngineResponse]:
    """The responses to `count` searches of one request if all are complete; raises what one was refused with."""
    for response in responses:
        if "error" in response:
            kind = str(response["error"].get("type"))
            raise map_engine_error(TransportError(response.get("status", 500), kind, response))
    return [all_shards_of(response) for response in all_of(responses, count)]


def _known_reason(body: dict[str, Any], kind: str | None) -> Exception | None:
    causes = _root_causes(body)
    reasons = [str(cause.get("reason")) for cause in causes]
    if kind == NO_INDEX:
        return NotLoadedError(str(body["error"].get("index", "the index")))
    if any(cause.get("type") == _PIT_GONE for cause in causes):
        return PitGoneError()
    types = {cause.get("type") for cause in causes}
    if _NODE_LOST.issuperset(types) if types else kind is not None and body["error"].get("reason") == _ALL_SHARDS:
        return ShardsLostError("search_unavailable")
    if any(_TOO_MANY_PITS in reason for reason in reasons):
        log.warning("the search engine takes no more cursors; see search.max_open_pit_context in docs/operations.md")
        message = "too many cursors are being read: read one to its end, or start yours later"
        headers = {"Retry-After": str(TOO_MANY_PITS_RETRY_AFTER_SECONDS)}
        return TooManyPitsError("search_unavailable", message, headers=headers)
    if any(_UNKNOWN_FIELD in reason.lower() for reason in reasons):
        log.error("an index has an older definition: load its catalogue again", cause=str(body["error"])[:300])
        return ApiError("search_unavailable", f"this needs an index of a newer definition: {LOAD_AGAIN}")
    return None


def _root_causes(body: dict[str, Any]) -> list[dict[str, Any]]:
    error = body.get("error")
    causes = error.get("root_cause") if isinstance(error, dict) else None
    return [cause for cause in causes if isinstance(cause, dict)] if isinstance(causes, list) else []
