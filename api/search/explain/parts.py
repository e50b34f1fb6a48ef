"""The parts of a search: a question in, each condition that an item must meet out, by name and with its clause. Pure.

Together they are `offered_query`: an item that meets all of them is in the answer. They are taken from that very query,
so that what is explained cannot differ from what is searched.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from api.search.query.attachments import AttachmentFilter, attachment_clause
from api.search.query.request import OFFERED, Clause, Question, offered_query
from api.search.query.text import conditions
from mappings.fields import DETAILS, FILTERS, Kind

OFFER = "offer"
TEXT = "query"

_PAINT = {"float": "float", "seed": "seed", "paintIndex": "index", "pattern": "pattern"}


@dataclass(frozen=True)
class Part:
    """One condition: the body's field that it comes from (`offer`: none), what is asked there, the engine's clause."""

    field: str
    asked: Any
    clause: Clause


def parts(question: Question) -> list[Part]:
    """Every condition of the question; attachments one by one."""
    found = [Part(OFFER, None, OFFERED)]
    filters = [(row, question.filters[row.name]) for row in FILTERS if row.name in question.filters]
    for row, clause in filters:
        asked = getattr(question.body.filters, row.name)
        if row.kind is Kind.ATTACHED:
            found += _attachments(asked)
        else:
            found.append(Part(f"filters.{row.name}", _shown(asked), clause))
    known = [OFFERED, *(clause for _, clause in filters)]
    typed = conditions(question.understood)
    rest = [clause for clause in _conditions(question) if clause not in known]
    return found + [Part(TEXT, next(one.typed for one in typed if one.clause == clause), clause) for clause in rest]


def held_by(item: dict[str, Any], field: str) -> Any:
    """What an item, as answers show it, has where a part asks."""
    name = field.removeprefix("filters.").partition(".")[0]
    if name in DETAILS:
        return item["details"][name]
    if name in _PAINT:
        return item["paint"][_PAINT[name]]
    if name == "attachments":
        return [{"name": one["name"], "wear": one["wear"]} for one in item["attachments"]]
    return {TEXT: item["name"], "price": item["price"], "ids": item["id"]}.get(name)


def _conditions(question: Question) -> list[Clause]:
    """All that the query demands, each as a clause of its own; what only adds to a score is left out."""
    asked = offered_query(question)["bool"]
    found: list[Clause] = [*asked.get("must", ()), *asked.get("filter", ())]
    found += [{"bool": {"must_not": [clause]}} for clause in asked.get("must_not", ())]
    if asked.get("minimum_should_match"):
        found.append({"bool": {key: asked[key] for key in ("should", "minimum_should_match")}})
    return found


def _attachments(asked: AttachmentFilter) -> list[Part]:
    single = [(f"all.{place}", one, AttachmentFilter(all=[one])) for place, one in enumerate(asked.all)]
    either = [("any", asked.any, AttachmentFilter(any=asked.any))]
    counted = [("count", asked.count, AttachmentFilter(count=asked.count))]
    return [
        Part(f"filters.attachments.{path}", _shown(value), clause)
        for path, value, alone in (*single, *either, *counted)
        if (clause := attachment_clause(alone)) is not None
    ]


def _shown(asked: Any) -> Any:
    """What is asked, as JSON values without what is absent."""
    if isinstance(asked, list):
        return [_shown(one) for one in asked]
    if isinstance(asked, BaseModel):
        held = asked.model_dump(by_alias=True, exclude_none=True)
        return {name: _shown(value) for name, value in held.items()}
    if isinstance(asked, Decimal):
        return int(asked) if asked == int(asked) else float(asked)
    return asked
