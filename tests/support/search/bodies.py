"""Bodies of searches for property tests."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from mappings.fields import FILTERS, SORTS, Kind
from tests.support.search import oracle

TEXTS = (
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


def _values(stored: list[str]) -> st.SearchStrategy[list[str] | None]:
    values = st.sampled_from(stored).flatmap(_spelt)
    return st.none() | st.lists(values | st.sampled_from(["unknown", "★", "é"]), max_size=3)


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
    attachment: dict[str, Any] = {"name": draw(_STICKERS), "minWear": low, "maxWear": high}
    if low is None:
        attachment["count"] = draw(st.none() | st.integers(1, 5))
    return attachment


@st.composite
def _attachments(draw: st.DrawFn) -> dict[str, Any] | None:
    counts = st.integers(0, 5).map(Decimal)
    some = st.none() | st.lists(_attached(), max_size=2)
    return draw(st.none() | st.fixed_dictionaries({}, optional={"all": some, "any": some, "count": _ranges(counts)}))


def _filters(values: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    strategies: dict[str, st.SearchStrategy[Any]] = {}
    for row in FILTERS:
        if row.kind is Kind.FOLDED:
            strategies[row.name] = _values(values[row.name])
        elif row.kind is Kind.ATTACHMENTS:
            strategies[row.name] = _attachments()
        elif row.kind is Kind.EXACT:
            strategies[row.name] = st.none() | st.lists(st.sampled_from([*values[row.name], "None such"]), max_size=3)
        elif row.kind is Kind.INTEGER:
            strategies[row.name] = st.none() | st.lists(st.sampled_from([*values[row.name], 99]), max_size=3)
        else:
            strategies[row.name] = _ranges(_CENTS | _BETWEEN_CENTS if row.kind is Kind.MONEY else _SHARES)
    return st.fixed_dictionaries({}, optional=strategies)


def bodies(values: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "platform": st.sampled_from([730, None]),
            "query": st.sampled_from(TEXTS) | st.none(),
            "filters": _filters(values) | st.none(),
            "limit": st.integers(1, 100) | st.none(),
            "page": st.integers(1, 4) | st.none(),
            "sort": st.sampled_from([sort.name for sort in SORTS]) | st.none(),
            "groupBy": st.sampled_from(["name", None, None]),
            "facets": st.lists(st.sampled_from(oracle.FACETS), unique=True, max_size=4) | st.none(),
        },
    )
