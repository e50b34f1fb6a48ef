"""The clauses of what operators have pinned and hidden. Pure."""

from collections.abc import Iterable

from api.engine.clauses import Clause, constant_score
from mappings.platforms import Platform
from mappings.vocabulary.rules import TextRules

PIN_SCORE = 100_000
"""Higher than the score of any text, also of one that lists items; each pinned name scores this more than the next.

The sum stays exact in the engine's 32-bit numbers.
"""


def pinned_clause(rules: TextRules) -> Clause | None:
    """What matches an item with a pinned name."""
    return _named(rules, rules.pinned) if rules.pinned else None


def pin_scores(each: Iterable[TextRules]) -> list[Clause]:
    """What puts pinned names first, in their order."""
    return [
        constant_score(_named(rules, (name,)), PIN_SCORE * (len(rules.pinned) - place))
        for rules in each
        for place, name in enumerate(rules.pinned)
    ]


def exclude_hidden(each: Iterable[TextRules]) -> list[Clause]:
    """What items must meet so that no name is shown that is hidden."""
    return [{"bool": {"must_not": [_named(rules, rules.hidden)]}} for rules in each if rules.hidden]


def hidden_from_all(platforms: Iterable[Platform]) -> list[Clause]:
    """The same where no text is searched for, as in suggestions: by the hides of every text."""
    return exclude_hidden(platform.rules.of_text(platform.id, "") for platform in platforms)


def _named(rules: TextRules, names: tuple[str, ...]) -> Clause:
    filters: list[Clause] = [{"terms": {"name": list(names)}}, {"term": {"platform": rules.platform}}]
    return {"bool": {"filter": filters}}
