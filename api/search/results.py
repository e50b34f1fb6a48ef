"""Results: a whole answer of the engine in, the answer's bytes out. Pure."""

from typing import Any

import orjson

Facets = dict[str, Any]


def search_answer(answer: dict[str, Any], facets: Facets | None) -> bytes:
    """The page of hits and the exact total as the contract shapes them, and the facets of who asked for some."""
    hits = answer["hits"]
    gear = [hit["_source"]["item"] for hit in hits.get("hits", ())]
    return orjson.dumps({"status": "success", "gear": gear, "total": hits["total"]["value"], **_counted(facets)})


def grouped_answer(gear: list[dict[str, Any]], total: int, facets: Facets | None) -> bytes:
    """A page of cards and the exact number of names."""
    return orjson.dumps({"status": "success", "gear": gear, "total": total, **_counted(facets)})


def cursor_answer(gear: list[dict[str, Any]], total: int, next_cursor: str | None, facets: Facets | None) -> bytes:
    """A page of a walk, with what continues it; None at the very end."""
    told = {"status": "success", "gear": gear, "total": total, "nextCursor": next_cursor}
    return orjson.dumps({**told, **_counted(facets)})


def _counted(facets: Facets | None) -> dict[str, Any]:
    return {} if facets is None else {"facets": facets}
