"""How many things a text says are on an item at most."""

from decimal import Decimal

import pytest

from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import parse_query
from api.search.query.text import text_clauses
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("ak redline no more than 2 stickers", 2),
        ("awp asiimov max 2 stickers under $50", 2),
        ("up to 3 stickers on ak redline", 3),
        ("ak redline fewer than 3 stickers", 2),
        ("ak redline less than 1 sticker", 0),
        ("ак редлайн не больше 2 наклеек", 2),
        ("ak redline höchstens 2 sticker", 2),
    ],
)
def test_a_bound_before_stickers_of_a_weapon_counts_them(text: str, most: int) -> None:
    parsed = parse_query(text, [CS2])
    (count,) = [each for each in parsed.parses[0].quantities if each.field == "attachments"]
    assert count.high == Decimal(most)
    assert not [
        term for term in parsed.options if any("Sticker" in name for each in term.meanings for name in each.names)
    ]
    assert f"{{'attachmentCount': {{'lte': {float(most)}}}}}" in str(text_clauses(parsed)["filter"])
    assert interpretation(parsed, parsed)["filters"]["attachments"] == {"count": {"max": most}}


@pytest.mark.parametrize(
    "text",
    [
        "stickers up to 2",
        "up to 2 stickers",
        "ak redline up to $2 sticker",
        "ak max 50 stickers",
        "ak max 2",
        "ak max 2 mw",
    ],
)
def test_else_it_bounds_the_price(text: str) -> None:
    quantities = parse_query(text, [CS2]).parses[0].quantities
    assert [each.field for each in quantities] == ["price"]
