"""How the parse of a text is explained."""

from typing import Any

import pytest

from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import ParsedQuery, parse_query
from api.search.relaxation.fillers import any_of_items, offered_items
from api.search.relaxation.relaxations import misspelt
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def explained(first: ParsedQuery, used: ParsedQuery | None = None) -> dict[str, Any]:
    return interpretation(first, used or first)


def test_the_flagship_is_explained() -> None:
    assert explained(strict("ak redline ft st under 50")) == {
        "platform": 730,
        "reading": "strict",
        "words": ["redline"],
        "filters": {
            "weapon": ["AK-47"],
            "exterior": ["Field-Tested"],
            "quality": ["StatTrak™", "★ StatTrak™"],
            "price": {"max": 49.99},
        },
        "terms": [
            {"typed": "ak", "means": [{"weapon": ["AK-47"]}]},
            {"typed": "redline", "means": []},
            {"typed": "ft", "means": [{"exterior": ["Field-Tested"]}]},
            {"typed": "st", "means": [{"quality": ["StatTrak™", "★ StatTrak™"]}]},
            {"typed": "under 50", "means": [{"price": {"max": 49.99}}]},
        ],
        "excluded": [],
        "sort": None,
        "relaxed": [],
    }


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("over 20 under 50.5 under 70", {"price": {"min": 20.01, "max": 50.49}}),
        ("over 20 over 30", {"price": {"min": 30.01}}),
        ("seed 1 #2", {"seed": [1, 2]}),
        ("ak m4", {"weapon": ["AK-47", "M4A1-S", "M4A4"]}),
        ("float 0.15-0.2", {"float": {"min": 0.15, "max": 0.2}}),
        ("kato", {}),
    ],
)
def test_filters_are_said_as_a_request_would_say_them(text: str, filters: dict[str, Any]) -> None:
    assert explained(strict(text))["filters"] == filters


def test_words_for_words_and_beginnings_are_explained() -> None:
    assert explained(strict("kato redl"))["terms"] == [
        {"typed": "kato", "means": [{"words": "katowice"}]},
        {"typed": "redl", "means": [], "begins": ["redl", "katoredl"]},
    ]


def test_an_amount_in_another_currency_is_said_to_be_in_the_platforms() -> None:
    assert explained(strict("under 50€"))["relaxed"] == [
        {"typed": "under 50€", "to": "an amount in USD, the platform's currency"}
    ]
    assert explained(strict("under 50$"))["relaxed"] == []


def test_a_bound_with_a_typo_is_explained_by_what_is_read() -> None:
    first = strict("ak redline niht mehr als 50$")
    (read, *_) = misspelt(first)
    assert explained(first, read)["relaxed"] == [{"typed": "over 50$", "to": "at most 50$"}]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("awp до 3000 руб", "at most 3000 RUB"),
        ("awp от 1000₽", "at least 1000 RUB"),
        ("awp 100-200元", "100-200 CNY"),
        ("awp 5000円以下", "5000 JPY max"),
        ("awp R$246,74", "BRL 246,74"),
        ("awp do 500 zł", "at most 500 PLN"),
        ("awp 500 tl altı", "500 TRY <max"),
        ("awp 賣 1200台幣", "1200 TWD"),
    ],
)
def test_an_amount_in_a_currency_of_another_worth_is_left_out_and_said(text: str, typed: str) -> None:
    explanation = explained(strict(text))
    assert explanation["filters"] == {"weapon": ["AWP"]}
    assert explanation["relaxed"] == [{"typed": typed, "to": "left out: prices are in USD"}]


def test_a_pattern_is_reported_as_the_seed_or_template_that_is_searched_and_as_no_filter() -> None:
    explanation = explained(strict("ak pattern 661"))
    assert explanation["filters"] == {"weapon": ["AK-47"]}
    assert explanation["terms"][-1] == {"typed": "pattern 661", "means": [{"seed": [661]}, {"pattern": [661]}]}


def test_the_price_that_a_trade_post_asks_is_left_out_and_said() -> None:
    first = strict("WTS ak redline 0.15 14.50")
    (offer,) = offered_items(first)
    assert explained(first, offer)["relaxed"] == [{"typed": "14.50", "to": "left out: the price that is asked"}]
    assert explained(first, offer)["filters"]["float"]["min"] == 0.15


def test_the_float_of_an_item_that_is_part_of_a_text_is_not_said_to_be_a_similar_one() -> None:
    first = strict("Order 7: 2x AK-47 | Redline (Field-Tested) - float 0.24550940096378")
    (offer,) = offered_items(first)
    assert "similar" not in str(explained(first, offer)["relaxed"])


def test_each_of_several_items_is_explained_with_what_is_said_of_it() -> None:
    first = strict("awp asiimov, deagle blaze 0.01, 3 months")
    read = any_of_items(first, offered_items(first))
    assert read is not None
    explanation = explained(first, read)
    (other,) = explanation["others"]
    assert explanation["relaxed"][0] == {"typed": "awp asiimov", "to": "one of several items: any of them"}
    assert other["relaxed"][0]["typed"] == "deagle blaze"
    assert (explanation["reading"], explanation["filters"], other["filters"]) == (
        "either",
        {"weapon": ["AWP"]},
        {"weapon": ["Desert Eagle"], "float": other["filters"]["float"]},
    )
    assert [each["to"] for each in explanation["relaxed"] if "nothing has" in each["to"]] == []


def test_the_words_of_another_item_are_said_to_be_left_out() -> None:
    first = strict("ak redline, awp asiimov")
    read, _ = offered_items(first)
    left_out = "left out: it is not of the item that counts"
    assert explained(first, read)["relaxed"] == [
        {"typed": "awp", "to": left_out},
        {"typed": "asiimov", "to": left_out},
    ]


@pytest.mark.parametrize(
    ("text", "number", "kind"),
    [
        ("at least 1,000,000,000,000,000,000", 10**18, int),
        ("at least 9,223,372,036,854,775,807", 2**63 - 1, int),
        ("at least 100,000,000,000,000,000,000,000", 1e23, float),
        ("at least 0.5 eur", 0.5, float),
    ],
)
def test_an_amount_is_explained_as_a_number_of_json(text: str, number: float, kind: type) -> None:
    explanation = explained(strict(text))
    assert explanation["filters"] == {"price": {"min": number}}
    assert explanation["terms"] == [{"typed": text, "means": [{"price": {"min": number}}]}]
    assert type(explanation["filters"]["price"]["min"]) is kind
