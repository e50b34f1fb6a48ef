"""Clauses of the engine's query language. Pure."""

from collections.abc import Sequence
from typing import Any

Clause = dict[str, Any]


def any_of(clauses: Sequence[Clause]) -> Clause:
    """At least one of the clauses; a single one as it is."""
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": list(clauses), "minimum_should_match": 1}}
