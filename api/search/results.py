"""Results: a whole answer of the engine in, the answer's bytes out. Pure."""

from typing import Any

import orjson

Part = dict[str, Any]


def search_answer(gear: list[Part], total: int, facets: Part | None, more: Part) -> bytes:
    """A page of hits or cards and the exact number of all, the facets of who asked for some, and what more was."""
    return orjson.dumps({"status": "success", "gear": gear, "total": total, **_counted(facets), **more})


def cursor_answer(gear: list[Part], total: int, next_cursor: str | None, facets: Part | None, more: Part) -> bytes:
    """A page of a walk, with what continues it (None at the very end), and the same besides."""
    told = {"status": "success", "gear": gear, "total": total, "nextCursor": next_cursor}
    return orjson.dumps({**told, **_counted(facets), **more})


def gear_of(answer: Part) -> list[Part]:
    """The items of a page."""
    return [hit["_source"]["item"] for hit in answer["hits"].get("hits", ())]


def total_of(answer: Part) -> int:
    """The exact number of all hits."""
    total: int = answer["hits"]["total"]["value"]
    return total


def _counted(facets: Part | None) -> Part:
    return {} if facets is None else {"facets": facets}
