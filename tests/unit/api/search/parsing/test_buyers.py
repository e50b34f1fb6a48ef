"""What sentences of buyers state (buyers/): bounds, values of fields, seeds, stickers, exclusions and orders."""

import tomllib
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pytest

from api.search.parsing.parse import PlatformParse, parse_query
from api.search.parsing.quantities import Quantity
from api.search.parsing.words import Term
from mappings.vocabulary.entries import values_of
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
FILES = sorted((Path(__file__).parent / "buyers").glob("*.toml"))
FIELDS = ("exterior", "quality", "phase")
FLOAT_DIGITS = Decimal("0.00001")  # a strict bound is the next double


def constraints_of(parse: PlatformParse) -> dict[str, str]:
    """What a parse states, each by its field; `not` before a field is what is not wanted."""
    quantities = (*parse.quantities, *parse.other_amounts)
    constraints = {
        "price": _between([each for each in quantities if each.field == "price"]),
        "float": _between([each for each in quantities if each.field == "float"]),
        "seed": ", ".join(str(each) for each in sorted(_seeds(quantities))),
        "sort": parse.sort,
        "stickers": _stickers(parse),
        "not": ", ".join(sorted(each.typed for each in parse.excluded if not _is_of_field(each))),
    }
    for field in FIELDS:
        constraints[field] = _values(parse.terms, field)
        constraints[f"not {field}"] = _values(parse.excluded, field)
    return {name: constraint for name, constraint in constraints.items() if constraint}


def _between(quantities: Iterable[Quantity]) -> str:
    """The bounds, and the currency of amounts that say nothing of prices in the platform's."""
    lows: list[Decimal] = []
    highs: list[Decimal] = []
    currencies: set[str] = set()
    for each in quantities:
        low, high = _not(each) if each.is_excluded else (each.low, each.high)
        lows += [] if low is None else [low]
        highs += [] if high is None else [high]
        currencies.add(each.currency or CS2.currency)
    if not currencies:
        return ""
    ends = (_rounded(max(lows, default=None)), _rounded(min(highs, default=None)))
    return "..".join(ends) + "".join(f" {each}" for each in sorted(currencies - {CS2.currency}))


def _not(excluded: Quantity) -> tuple[Decimal | None, Decimal | None]:
    """What is left: a price beyond the bound begins one cent from it."""
    step = Decimal("0.01") if excluded.field == "price" else Decimal(0)
    return (
        None if excluded.high is None else excluded.high + step,
        None if excluded.low is None else excluded.low - step,
    )


def _rounded(number: Decimal | None) -> str:
    return "" if number is None else f"{number.quantize(FLOAT_DIGITS).normalize():f}"


def _seeds(quantities: Iterable[Quantity]) -> set[int]:
    return {seed for each in quantities if each.field in ("seed", "pattern") for seed in each.values}


def _stickers(parse: PlatformParse) -> str:
    if any("Sticker" in values_of(each.meanings, "type") for each in parse.excluded):
        return "no"
    return "yes" if any(each.is_attached for each in parse.terms) else ""


def _is_of_field(term: Term) -> bool:
    return bool(term.fields & {*FIELDS}) or "Sticker" in values_of(term.meanings, "type")


def _values(terms: Iterable[Term], field: str) -> str:
    values = {value for term in terms for each in term.options for value in values_of(each.meanings, field)}
    return ", ".join(sorted(values))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_buyers_state_is_asked_for(file: Path) -> None:
    sentences = tomllib.loads(file.read_text(encoding="utf-8"))
    read = {text: constraints_of(parse_query(text, [CS2]).parses[0]) for text in sentences}
    assert read == sentences
