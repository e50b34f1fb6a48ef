"""Changes of all terms of a parsed text, and what to call what comes of them. Pure."""

from collections.abc import Callable
from dataclasses import replace

from api.search.parsing.parse import ParsedQuery, Relaxation
from api.search.parsing.words import Term


def relaxation_of(parsed: ParsedQuery, first: Relaxation) -> Relaxation:
    """What to call a parse that is loosened: a strict one by the `first` relaxation, any other one as before."""
    return first if parsed.relaxation is Relaxation.STRICT else parsed.relaxation


def with_terms(parsed: ParsedQuery, change: Callable[[Term], Term], relaxation: Relaxation) -> ParsedQuery:
    """The parse with every term and each of its alternatives changed, by this relaxation; no finish is of the item."""

    def changed(term: Term) -> Term:
        return replace(change(term), alternatives=tuple(change(option) for option in term.alternatives))

    parses = (
        replace(parse, terms=tuple(changed(term) for term in parse.terms), finishes=()) for parse in parsed.parses
    )
    return replace(parsed, parses=tuple(parses), relaxation=relaxation)
