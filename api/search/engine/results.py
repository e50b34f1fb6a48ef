"""Results: a whole answer of the engine in, the answer's bytes out. Pure."""

from typing import Any

import orjson

from api.search.engine.answers import Answer, Hit

Part = dict[str, Any]
Gear = orjson.Fragment  # an item as JSON


def search_answer(gear: list[Gear], total: int, facets: Part | None, more: Part) -> bytes:
    """A page of hits or cards and the exact number of all, the facets of who asked for some, and what more was."""
    return orjson.dumps({"status": "success", "gear": gear, "total": total, **_counted(facets), **more})


def cursor_answer(gear: list[Gear], total: int, next_cursor: str | None, facets: Part | None, more: Part) -> bytes:
    """A page of a walk, with what continues it (None at the very end), and the same besides."""
    told = {"status": "success", "gear": gear, "total": total, "nextCursor": next_cursor}
    return orjson.dumps({**told, **_counted(facets), **more})


def item_of(hit: Hit) -> Gear:
    """The item of a hit, as it was loaded."""
    return Gear(bytes(hit["_source"]["item"]))


def gear_of(answer: Answer) -> list[Gear]:
    """The items of a page."""
    return [item_of(hit) for hit in answer["hits"].get("hits", ())]


def total_of(answer: Answer) -> int:
    """The exact number of all hits."""
    total: int = answer["hits"]["total"]["value"]
    return total


def _counted(facets: Part | None) -> Part:
    return {} if facets is None else {"facets": facets}
