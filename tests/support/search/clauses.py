"""What an engine's request asks for."""

from collections.abc import Iterator
from typing import Any


def leaves(clause: Any) -> Iterator[str]:
    """The queries that the engine counts: a match has one for each of its words."""
    for name, inside in clause.items():
        if name in ("term", "terms", "range", "match_bool_prefix"):
            yield name
        elif name == "match":
            (value,) = inside.values()
            yield from (value if isinstance(value, str) else value["query"]).split()
        elif isinstance(inside, dict):
            yield from leaves(inside)
        elif isinstance(inside, list):
            for each in inside:
                yield from leaves(each)
