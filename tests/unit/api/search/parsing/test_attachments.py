"""How many things a text says are on an item."""

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
    ("text", "least", "typed"),
    [
        ("ak with more than 2 stickers", 3, "more than 2 stickers"),
        ("ak redline over 1 sticker", 2, "over 1 sticker"),
        ("m4a4 with at least 2 crown foils", 2, "at least 2"),
        ("m4a4 with 2+ crown foils under $50", 2, "2+"),
        ("m4a4 with 2 or more holos", 2, "2 or more"),
    ],
)
def test_a_lower_bound_counts_them_too_and_what_is_named_behind_with(text: str, least: int, typed: str) -> None:
    parsed = parse_query(text, [CS2])
    (count,) = [each for each in parsed.parses[0].quantities if each.field == "attachments"]
    assert (count.low, count.high, count.typed) == (Decimal(least), None, typed)
    assert f"{{'attachmentCount': {{'gte': {float(least)}}}}}" in str(text_clauses(parsed)["filter"])


@pytest.mark.parametrize(
    "text",
    [
        "ak at least 2",
        "ak with at least $2",
        "with at least 2 crown foils",
        "ak with holos over 2",
        "ak more than 2 with holos",
        "ak with at least 20 holos",
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


@pytest.mark.parametrize(
    ("text", "wanted", "excluded"),
    [
        ("ak no navi holo stickers", ["ak"], "navi holo"),
        ("no crown foil sticker on my ak, ft", ["ak", "ft"], "crown foil"),
        ("redline no navi stickers", ["redline"], "navi"),
        ("ak no navi", ["ak"], "navi"),
        ("ak sem adesivo navi", ["ak"], "navi"),
        ("ак без наклеек корона", ["ак"], "корона"),
        ("ak navi 스티커 빼고", ["ak"], "navi"),
        ("ak navi stickersız", ["ak"], "navi"),
        ("no navi stickers", ["stickers"], "navi"),
        ("katowice 2014 no holo stickers", ["katowice 2014", "stickers"], "holo"),
        ("ak no s1ren austin 2025", ["ak"], "s1ren austin 2025"),
        ("ak without chopper holo austin 2025 sticker", ["ak"], "chopper holo austin 2025"),
        ("ak no ibp, titan", ["ak", "titan"], "ibp"),
        ("ak no ibp mw", ["ak", "mw"], "ibp"),
        ("stickers no holo austin 2025", ["stickers", "austin", "2025"], "holo"),
    ],
)
def test_what_is_not_wanted_on_an_item_takes_the_word_sticker_along(
    text: str, wanted: list[str], excluded: str
) -> None:
    (parse,) = parse_query(text, [CS2]).parses
    words = " ".join(term.typed for term in parse.terms if not term.is_filler and term.typed != "my")
    assert words == " ".join(wanted)
    assert [(term.typed, term.on_item) for term in parse.excluded] == [(excluded, True)]


@pytest.mark.parametrize("text", ["ak no redline", "ak no foil", "ak no gold", "ak no 2014", "ak no stattrak"])
def test_words_of_finishes_and_numbers_are_excluded_of_the_item_alone(text: str) -> None:
    (term,) = parse_query(text, [CS2]).parses[0].excluded
    assert not term.on_item


@pytest.mark.parametrize(
    "text",
    ["ak no stickers redline", "ak redline no stickers", "ak redline 스티커 빼고", "navi 스티커 빼고", "no stickers"],
)
def test_else_no_stickers_are_wanted(text: str) -> None:
    (term,) = parse_query(text, [CS2]).parses[0].excluded
    assert term.is_attached
    assert not term.on_item


def test_what_is_not_wanted_on_an_item_is_a_sticker_with_all_its_words() -> None:
    filters = str(text_clauses(parse_query("ak no s1ren", [CS2]))["filter"])
    assert "{'match': {'stickers.typed': {'query': 's1ren', 'operator': 'and'}}}" in filters
    dated = str(text_clauses(parse_query("ak no s1ren austin 2025", [CS2]))["filter"])
    assert "{'match': {'stickers.typed': {'query': 's1ren austin 2025', 'operator': 'and'}}}" in dated
