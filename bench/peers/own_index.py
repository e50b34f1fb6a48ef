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
        case {"range": {"price": bounds}}:
            return {"range": {"price": {end: round(bound * 100) for end, bound in bounds.items()}}}
        case {"terms": {"field": field, **options}}:
            return {"terms": {"field": _field(field), **options}}
        case {"terms": terms}:
            return {"terms": {f"{_field(name)}.folded": [fold(value) for value in terms[name]] for name in terms}}
    return {name: _translated(inner) for name, inner in part.items()}


def _field(name: str) -> str:
    return name.removeprefix("details.")
