"""The plain service's request, written by hand for this project's index: its field names, cents and folded words."""

from typing import Any

from bench.peers import plain
from mappings.folding import fold

_PAGING = ("from", "track_total_hits")  # paging by `search_after` needs neither


def query_of(body: dict[str, Any]) -> dict[str, Any]:
    """The engine's request for a search body.

    One with facets leaves out items that an order has reserved, as the service's counts do.
    """
    query: dict[str, Any] = _translated(plain.query_of(body))
    if "facets" in body:
        query["query"]["bool"]["must_not"] = [{"term": {"bound": True}}]
    if "cursor" in body:
        return {name: part for name, part in query.items() if name not in _PAGING}
    return query


def _translated(part: Any) -> Any:
    if isinstance(part, list):
        return [_translated(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    match part:
        case {"field": "price", "ranges": ranges}:
            part = {"field": "price", "ranges": [_in_cents(each) for each in ranges]}
        case {"field": field}:
            part = {**part, "field": field.removeprefix("details.").removeprefix("paint.")}
        case {"range": {"price": bounds}}:
            part = {"range": {"price": _in_cents(bounds)}}
        case {"terms": terms} if "field" not in terms:
            words = {f"{name.removeprefix('details.')}.folded": terms[name] for name in terms}
            part = {"terms": {name: list(map(fold, values)) for name, values in words.items()}}
        case _:
            part = {name: _translated(inner) for name, inner in part.items()}
    return part


def _in_cents(bounds: dict[str, float]) -> dict[str, int]:
    return {end: round(bound * 100) for end, bound in bounds.items()}
