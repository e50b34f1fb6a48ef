"""Results: a whole answer of the engine in, the answer's bytes out. Pure."""

from typing import Any

import orjson

Part = dict[str, Any]


def search_answer(answer: Part, facets: Part | None, more: Part) -> bytes:
    """The page of hits and the exact total as the contract shapes them, the facets of who asked for some, and more."""
    gear = [hit["_source"]["item"] for hit in answer["hits"].get("hits", ())]
    told = {"status": "success", "gear": gear, "total": total_of(answer)}
    return orjson.dumps({**told, **_counted(facets), **more})


def grouped_answer(gear: list[Part], total: int, facets: Part | None, more: Part) -> bytes:
    """A page of cards and the exact number of names, and the same besides."""
    return orjson.dumps({"status": "success", "gear": gear, "total": total, **_counted(facets), **more})


def cursor_answer(gear: list[Part], total: int, next_cursor: str | None, facets: Part | None, more: Part) -> bytes:
    """A page of a walk, with what continues it (None at the very end), and the same besides."""
    told = {"status": "success", "gear": gear, "total": total, "nextCursor": next_cursor}
    return orjson.dumps({**told, **_counted(facets), **more})


def total_of(answer: Part) -> int:
    """The exact number of all hits."""
    total: int = answer["hits"]["total"]["value"]
    return total


def _counted(facets: Part | None) -> Part:
    return {} if facets is None else {"facets": facets}
