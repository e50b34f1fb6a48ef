"""The conditions that an item must meet to be found by a query, each with its clause. Pure.

Together they are the query: an item that meets all of them is found. They are taken from that very query, so what is
explained cannot differ from what is searched.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from api.engine.clauses import Clause
from api.engine.responses import Json
from api.search.query.attachments import attachment_clause
from api.search.query.request import SearchQuery
from api.search.query.text import conditions as text_conditions
from api.search.schemas.attachments import AttachmentFilter
from mappings.fields import FILTERS, OFFERED, Kind

OFFER = "offer"
TEXT = "query"
HIDDEN = "hidden"

_ROWS = {row.name: row for row in FILTERS}


@dataclass(frozen=True)
class ExplainedCondition:
    """A condition: the body's field (`offer`, `hidden`: none), what is asked there, the engine's clause."""

    field: str
    requested: Any
    clause: Clause


def conditions(query: SearchQuery) -> list[ExplainedCondition]:
    """Every condition of a query; attachments one by one."""
    parts = [ExplainedCondition(OFFER, None, OFFERED)]
    parts += [ExplainedCondition(HIDDEN, None, clause) for clause in query.hidden_clauses]
    parts += _of_filters("token.filters", query.forced, query.forced_clauses)
    parts += _of_filters("filters", query.body.filters, query.filters)
    covered = [OFFERED, *query.hidden_clauses, *query.forced_clauses.values(), *query.filters.values()]
    typed = text_conditions(query.parsed)
    demanded = query.offered["bool"]  # what only adds to a score is left out
    for clause in [*demanded.get("must", ()), *demanded.get("filter", ())]:
        if clause not in covered:
            parts.append(ExplainedCondition(TEXT, next(each.typed for each in typed if each.clause == clause), clause))
    return parts


def value_of(item: Json, field: str) -> Any:
    """What an item, as responses show it, has for a condition's field."""
    if field == TEXT:
        return item["name"]
    row = _ROWS.get(field.removeprefix("token.").removeprefix("filters.").partition(".")[0])
    if row is None:
        return None
    value = row.value_in(item)
    if row.kind is Kind.ATTACHMENTS:
        return [{"name": attached["name"], "wear": attached["wear"]} for attached in value]
    return value


def _of_filters(prefix: str, filters: BaseModel | None, clauses: dict[str, Clause]) -> list[ExplainedCondition]:
    parts: list[ExplainedCondition] = []
    for row in FILTERS:
        if row.name in clauses:
            requested = getattr(filters, row.name)
            if row.kind is Kind.ATTACHMENTS:
                parts += _attachments(prefix, requested)
            else:
                parts.append(ExplainedCondition(f"{prefix}.{row.name}", _json(requested), clauses[row.name]))
    return parts


def _attachments(prefix: str, condition: AttachmentFilter) -> list[ExplainedCondition]:
    each = [
        (f"all.{place}", attached, AttachmentFilter(all=[attached])) for place, attached in enumerate(condition.all)
    ]
    either = ("any", condition.any, AttachmentFilter(any=condition.any))
    counted = ("count", condition.count, AttachmentFilter(count=condition.count))
    return [
        ExplainedCondition(f"{prefix}.attachments.{path}", _json(requested), clause)
        for path, requested, alone in (*each, either, counted)
        if (clause := attachment_clause(alone)) is not None
    ]


def _json(value: Any) -> Any:
    """A value of a body as JSON, without what is absent."""
    if isinstance(value, list):
        return [_json(part) for part in value]
    if isinstance(value, BaseModel):
        return {name: _json(part) for name, part in value.model_dump(by_alias=True, exclude_none=True).items()}
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value
