"""Keys of products in search bodies, instead of the placeholders of their lookups. Pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import orjson

from api.engine.clauses import Clause, any_of
from api.engine.product_lookups import PLACEHOLDER, Hits, Lookup

Keys = Sequence[tuple[float, Clause]]
"""The clauses for the listings with the keys that a lookup finds, by score."""
_NOTHING: Final[Clause] = {"match_none": {}}
MIN_MANY: Final = 300
"""Keys from which on a detail is looked for that says them."""
MAX_TERMS: Final = 1_000_000  # `max_terms_count` of gear.json
MAX_EXCEPTIONS_SHARE: Final = 4
"""A detail says keys if a quarter as many, at most, are exceptions."""


def placeholders_in(value: Any) -> Iterator[int]:
    """The numbers of the lookups whose placeholders a body, or a part of it, has."""
    if isinstance(value, list):
        for part in value:
            yield from placeholders_in(part)
    elif isinstance(value, dict):
        if PLACEHOLDER in value:
            yield value[PLACEHOLDER][0]
        for part in value.values():
            yield from placeholders_in(part)


def with_keys(value: Any, keys: Sequence[Keys]) -> Any:
    """The body, or a part of it, with what the lookups have found instead of their placeholders."""
    if isinstance(value, list):
        return [with_keys(part, keys) for part in value]
    if not isinstance(value, dict):
        return value
    if PLACEHOLDER not in value:
        return {name: with_keys(part, keys) for name, part in value.items()}
    number, is_scored = value[PLACEHOLDER]
    return _keys(keys[number], is_scored=is_scored)


def _keys(keys: Keys, *, is_scored: bool) -> Clause:
    """The clause for the listings with these keys, with their scores where these count."""
    if not keys:
        return _NOTHING
    if not is_scored:
        return any_of([clause for _, clause in keys])
    return any_of([{"constant_score": {"filter": clause, "boost": score}} for score, clause in keys])


def keys_of(lookup: Lookup, hits: Hits, details: Sequence[tuple[Clause, frozenset[str]]] = ()) -> tuple[Keys, int]:
    """The clauses for the keys that a lookup has found, and how many keys they name.

    From MIN_MANY keys on, the clause of a detail takes their place if it finds nearly the same products, with the
    exceptions by key. `details` are those to choose from, each with its keys.
    """
    keys: list[tuple[float, Clause]] = []
    count = 0
    for score, same in groupby(hits, key=lambda hit: hit[0]):
        clause, named = _clause_of(lookup.key_field, [key for _, key in same], details)
        keys.append((score, clause))
        count += named
    return keys, count


def _clause_of(key_field: str, keys: list[str], details: Sequence[tuple[Clause, frozenset[str]]]) -> tuple[Clause, int]:
    if len(keys) < MIN_MANY or not details:
        return _named(key_field, keys), len(keys)
    these = frozenset(keys)
    detail, having = min(details, key=lambda each: len(these ^ each[1]))
    lacking, others = sorted(having - these), sorted(these - having)
    if len(lacking) + len(others) > len(keys) // MAX_EXCEPTIONS_SHARE:
        return _named(key_field, keys), len(keys)
    clauses = [detail]
    if lacking:
        clauses = [{"bool": {"filter": [detail], "must_not": [_named(key_field, lacking)]}}]
    if others:
        clauses.append(_named(key_field, others))
    return any_of(clauses), len(lacking) + len(others)


def _named(key_field: str, keys: list[str]) -> Clause:
    parts = [keys[first : first + MAX_TERMS] for first in range(0, len(keys), MAX_TERMS)]
    # encoded once, however often it is sent
    return any_of([{"terms": {key_field: orjson.Fragment(orjson.dumps(part))}} for part in parts])
