"""Bounds, exclusions and orders as buyers of each language say them (sentences.toml)."""

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from api.search.parsing.parse import PlatformParse, parse_query
from mappings.fields import SORTS
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
SENTENCES = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))
NOT_WANTED = {"no_stattrak": "StatTrak™", "no_souvenir": "Souvenir", "no_battle_scarred": "Battle-Scarred"}
BOUNDS = {
    "at_most_50": (None, 50),
    "under_50": (None, Decimal("49.99")),
    "at_least_50": (50, None),
    "over_50": (Decimal("50.01"), None),
    "from_50_to_100": (50, 100),
    "about_50": (Decimal("37.5"), Decimal("62.5")),
}
ORDERS = {sort.name for sort in SORTS}


def _bounds(parse: PlatformParse) -> tuple[Decimal | None, Decimal | None]:
    """The lowest and the highest price that the text asks for."""
    prices = [each for each in parse.quantities if each.field == "price" and not each.is_excluded]
    lows = [each.low for each in prices if each.low is not None]
    highs = [each.high for each in prices if each.high is not None]
    return max(lows, default=None), min(highs, default=None)


@pytest.mark.parametrize(
    ("meaning", "text"),
    [(meaning, text) for meanings in SENTENCES.values() for meaning, texts in meanings.items() for text in texts],
)
def test_what_is_said_is_asked_for(meaning: str, text: str) -> None:
    (parse,) = parse_query(text, [CS2]).parses
    values = [term.meanings[0].names[0] for term in parse.terms if term.meanings]
    excluded = {term.meanings[0].names[0] for term in parse.excluded if term.meanings}
    assert values == ["AK-47"]
    assert excluded == ({NOT_WANTED[meaning]} if meaning in NOT_WANTED else set())
    assert _bounds(parse) == BOUNDS.get(meaning, (None, None))
    assert parse.sort == (meaning if meaning in ORDERS else "")
    unread = [term.typed for term in parse.terms if not term.meanings and not term.is_filler]
    assert unread == []
