"""Every filter, sort and page of the search gives what a plain filter over the same items gives."""

from decimal import Decimal
from math import nextafter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mappings.fields import FILTERS, SORTS, Kind
from tests.real.search.conftest import SearchedItems
from tests.support.search import oracle

_TEXTS = (
    "",
    " ",
    "ak47",
    "ak 47",
    "AK-47 redline",
    "redline ak",
    "m4a1s",
    "m4 a1 s",
    "fiveseven",
    "usps kill",
    "stattrak",
    "stat trak bayonet",
    "★",
    "♥",
    "™",
    "doppler ruby",
    "karambit phase 2",
    "p 90",
    "asiimov",
    "jormungandr",
    "saiba oni",
    "龍王",
    "dragon KING",
    "gloves",
    "niko london",
    "field tested",
    "nothing has this",
    "redlin",
    "ak redl",
    "ak redl ",
    "ak ft",
    "karambit st fn",
    "knife p2",
    "m4 asiimov",
    "m4",
    "5-7",
    "p250",
    "p2500",
    "p25",
    "bayo fade",
    "sticker london 20",
    "london 2017",
    "london 2018 sticker",
    "asimov",
    "asiimvo p90",
    "p90 asimov",
    "p91 asiimov",
    "redlime",
    "kil confirmed",
    "kill confrimed",
    "killconfirmed usp-s",
    "blod water",
    "blood fade",
    "xsiimov",
    "covert ruby",
    "st swap tool",
    "souvenir",
    "doppler bp",
    "bayonet tool",
    "tool st",
    "knife p90 asimov",
    "sticker awp jormun",
    "jormungadr",
    "SAIBA ONY",
    "!!!",
)


def _spelt(value: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [value, value.upper(), f"  {value.lower()} ", value.replace("™", "").replace(" ", "  ")]
    ).filter(bool)


def _values(held: list[str]) -> st.SearchStrategy[list[str] | None]:
    known = st.sampled_from(held).flatmap(_spelt)
    return st.none() | st.lists(known | st.sampled_from(["unknown", "★", "é"]), max_size=3)


_CENTS = st.integers(0, 250_000).map(lambda cents: Decimal(cents) / 100)
_BETWEEN_CENTS = st.sampled_from([Decimal("0.0299999999999999999999"), Decimal("5.001"), Decimal("19.9900000000001")])
PLAIN: dict[str, Any] = {"facets": None, "groupBy": None}  # facets count items, also of grouped searches
_SHARES = st.sampled_from([Decimal(0), Decimal("0.07"), Decimal("0.15"), Decimal("0.38"), Decimal(1)])


@st.composite
def _ranges(draw: st.DrawFn, numbers: st.SearchStrategy[Decimal]) -> dict[str, Decimal | None] | None:
    low, high = draw(st.none() | numbers), draw(st.none() | numbers)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return draw(st.sampled_from([{"min": low, "max": high}, None]))


_STICKERS = st.sampled_from(
    [
        "Sticker | NiKo",
        "STICKER  |  niko ",
        "sticker | crown (foil)",
        "Charm | Lil Ava",
        "★",
        "☆",
        "crown\x1f1:3ff",
        "crown",
    ]
)


@st.composite
def _attached(draw: st.DrawFn) -> dict[str, Any]:
    wears = draw(_ranges(_SHARES)) or {}
    low, high = wears.get("min"), wears.get("max")
    asked: dict[str, Any] = {"name": draw(_STICKERS), "minWear": low, "maxWear": high}
    if low is None:
        asked["count"] = draw(st.none() | st.integers(1, 5))
    return asked


@st.composite
def _attachments(draw: st.DrawFn) -> dict[str, Any] | None:
    counts = st.integers(0, 5).map(Decimal)
    some = st.none() | st.lists(_attached(), max_size=2)
    return draw(st.none() | st.fixed_dictionaries({}, optional={"all": some, "any": some, "count": _ranges(counts)}))


def _filters(known: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    chosen: dict[str, st.SearchStrategy[Any]] = {}
    for row in FILTERS:
        if row.kind is Kind.FOLDED:
            chosen[row.name] = _values(known[row.name])
        elif row.kind is Kind.ATTACHED:
            chosen[row.name] = _attachments()
        elif row.kind is Kind.WHOLE:
            chosen[row.name] = st.none() | st.lists(st.sampled_from([*known[row.name], 99]), max_size=3)
        else:
            chosen[row.name] = _ranges(_CENTS | _BETWEEN_CENTS if row.kind is Kind.MONEY else _SHARES)
    return st.fixed_dictionaries({}, optional=chosen)


def bodies(known: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "platform": st.sampled_from([730, None]),
            "query": st.sampled_from(_TEXTS) | st.none(),
            "filters": _filters(known) | st.none(),
            "limit": st.integers(1, 100) | st.none(),
            "page": st.integers(1, 4) | st.none(),
            "sort": st.sampled_from([sort.name for sort in SORTS]) | st.none(),
            "groupBy": st.sampled_from(["name", None, None]),
            "facets": st.lists(st.sampled_from(oracle.FACETS), unique=True, max_size=4) | st.none(),
        },
    )


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_search_answers_what_a_plain_filter_answers(searched_items: SearchedItems, data: Any) -> None:
    body = data.draw(bodies(searched_items.known))
    expected, total = oracle.answer(searched_items.items, body)
    found = searched_items.ask(body)
    asked = {"facets": oracle.facets(searched_items.items, body)} if body.get("facets") else {}
    assert found == {"status": "success", "gear": found["gear"], "total": total} | asked
    gear = found["gear"]
    grouped = body.get("groupBy")
    for item in gear:
        assert item.pop("offers", None) == (
            oracle.offers(searched_items.items, body, item["name"]) if grouped else None
        )
    if expected is not None:
        assert [item["id"] for item in gear] == expected
    matching = oracle.hits_of(searched_items.items, body)
    hits = {item["id"]: item for item in (oracle.heads(matching) if grouped else matching)}
    for item in gear:
        loaded = hits[item["id"]]
        assert {key: item[key] for key in ("name", "price", "details", "paint")} == {
            key: loaded[key] for key in ("name", "price", "details", "paint")
        }


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_count_of_a_facets_value_is_the_total_of_the_search_with_it(
    searched_items: SearchedItems, data: Any
) -> None:
    body = {**data.draw(bodies(searched_items.known)), "facets": list(oracle.DETAILS)}
    facets = searched_items.ask(body)["facets"]
    for name in oracle.DETAILS:
        other = oracle.without(body, name)
        for entry in facets[name]:
            with_it = {**other, "filters": {**other["filters"], name: [entry["value"]]}, **PLAIN}
            assert searched_items.search(with_it)[1] == entry["count"], (name, entry)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_count_of_a_bucket_is_the_total_of_the_search_within_it(searched_items: SearchedItems, data: Any) -> None:
    body = {**data.draw(bodies(searched_items.known)), "facets": ["price", "float"]}
    facets = searched_items.ask(body)["facets"]
    for name in ("price", "float"):
        other = oracle.without(body, name)
        for bucket in facets[name]["buckets"]:
            last = bucket is facets[name]["buckets"][-1]
            high = bucket["to"] if last else nextafter(bucket["to"], 0)
            inside = {"min": Decimal(repr(bucket["from"])), "max": Decimal(repr(high))}
            within = {**other, "filters": {**other["filters"], name: inside}, **PLAIN}
            assert searched_items.search(within)[1] == bucket["count"], (name, bucket)


@pytest.mark.parametrize("text", _TEXTS)
def test_a_text_finds_what_plain_reading_finds(text: str, searched_items: SearchedItems) -> None:
    body: dict[str, Any] = {"query": text, "sort": "price_asc", "limit": 100}
    expected, total = oracle.answer(searched_items.items, body)
    gear, found_total = searched_items.search(body)
    assert ([item["id"] for item in gear], found_total) == (expected, total)


def test_pages_by_relevance_give_every_hit_once(searched_items: SearchedItems) -> None:
    body: dict[str, Any] = {"query": "asiimov", "limit": 7}
    _, total = oracle.answer(searched_items.items, body)
    seen: list[int] = []
    for page in range(1, total // 7 + 2):
        gear, _ = searched_items.search({**body, "page": page})
        seen += [item["id"] for item in gear]
    assert len(seen) == len(set(seen)) == total > 14
