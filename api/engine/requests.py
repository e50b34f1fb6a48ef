"""Search requests: their parameters, and the lines of several in one. Pure."""

from collections.abc import Sequence
from typing import Final

import orjson

# A larger body, with the keys of very many products, would take the place of hundreds in the engine's cache.
MAX_CACHED_BYTES: Final = 65_536
# Sent only with other filters: a filter makes the engine parse its own response once more, a third of a millisecond for
# a page of items (docs/decisions/0034). It names the hits, their number, and what proves a response complete.
_ALWAYS_READ: Final = (
    *("timed_out", "_shards.total", "_shards.failed", "hits.total", "hits.hits._index", "hits.hits._source"),
    "aggregations",
)


def search_params(content: bytes, filter_path: Sequence[str]) -> dict[str, str]:
    """The parameters of a search with this body; its response is limited to these parts and what every caller reads."""
    params = {"request_cache": "true" if _is_cached(content) else "false"}
    if filter_path:
        params["filter_path"] = ",".join((*_ALWAYS_READ, *filter_path))
    return params


def multi_search_params(filter_path: Sequence[str]) -> dict[str, str]:
    """The same for several searches in one request."""
    parts = (_in_responses(part) for part in (*_ALWAYS_READ, "status", "error", *filter_path))
    return {"filter_path": ",".join(parts)} if filter_path else {}


def multi_search(contents: Sequence[tuple[Sequence[str], bytes]]) -> bytes:
    """The lines of several searches, each of indices or aliases with its body."""
    lines = bytearray()
    for indices, content in contents:
        # without `request_cache` the engine caches responses without hits alone
        options = {"allow_partial_search_results": False, "request_cache": _is_cached(content)}
        lines += b"%b\n%b\n" % (orjson.dumps({"index": list(indices), **options}), content)
    return bytes(lines)


def _is_cached(content: bytes) -> bool:
    return len(content) <= MAX_CACHED_BYTES


def _in_responses(part: str) -> str:
    return f"-responses.{part[1:]}" if part.startswith("-") else f"responses.{part}"
