"""Results: a whole answer of the engine in, the answer's bytes out. Pure."""

from typing import Any

import orjson


def search_answer(answer: dict[str, Any]) -> bytes:
    """The page of hits and the exact total as the contract shapes them."""
    hits = answer["hits"]
    gear = [hit["_source"]["item"] for hit in hits.get("hits", ())]
    return orjson.dumps({"status": "success", "gear": gear, "total": hits["total"]["value"]})


def cursor_answer(gear: list[dict[str, Any]], total: int, next_cursor: str | None) -> bytes:
    """A page of a walk, with what continues it; None at the very end."""
    return orjson.dumps({"status": "success", "gear": gear, "total": total, "nextCursor": next_cursor})
