"""The index document of an item: exact numbers, searched fields, and a named reason for everything refused."""

from decimal import Decimal
from typing import Any

import orjson
import pytest

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, readable_id, shortened
from mappings.platforms import Platform, read_platforms
from tests.support.golden import Golden

RIFLE: dict[str, Any] = {
    "id": 40000000001,
    "name": "StatTrak™ AK-47 | Redline (Field-Tested)",
    "price": 19.9,
    "image": "https://example.com/redline.png",
    "inspectLink": "steam://rungame/730/76561202255233023/+csgo_econ_action_preview%20S1A2D3",
    "description": "Fresh from a case.",
    "details": {
        "type": "Rifle",
        "weapon": "AK-47",
        "set": "The Phoenix Collection",
        "quality": "StatTrak™",
        "rarity": "Classified",
        "exterior": "Field-Tested",
        "phase": None,
        "tournament": None,
        "color": None,
    },
    "paint": {"float": 0.23123413324356079, "seed": 661, "index": 282, "pattern": 3},
    "attachments": [
        {"id": 4, "name": "Sticker | Crown (Foil)", "wear": 0, "type": "sticker", "image": None},
        {"name": "Charm | Lil' Ava"},
    ],
    "listedAt": "2026-08-01t10:00:00.123456789+02:00",
}

CASES: dict[str, dict[str, Any]] = {
    "rifle": RIFLE,
    "only-what-is-required": {"id": -7, "name": "★ Karambit"},
    "only-a-charm": {"id": 2, "name": "x", "attachments": [{"name": "Charm | Lil' Ava", "type": "charm"}]},
    "absent-parts": {"id": 1, "name": "x", "details": None, "paint": None, "attachments": None, "price": None},
    "largest-numbers": {
        "id": 2**63 - 1,
        "name": "x" * 512,
        "price": 999_999_999_999.99,
        "paint": {"float": 1, "seed": -(2**63), "index": 2**63 - 1},
    },
    "smallest-numbers": {"id": -(2**63), "name": "x", "price": -0.0, "paint": {"float": -0.0, "seed": 0}},
    "doppler": {
        "id": 3,
        "name": "★ Butterfly Knife | Doppler (Factory New)",
        "price": 2000.01,
        "details": {"type": "Knife", "weapon": "Butterfly Knife", "phase": "Sapphire", "color": "Blue"},
        "paint": {"float": 1e-9, "index": 619},
        "listedAt": "1970-01-01T00:00:00-00:00",
    },
    "attachments": {
        "id": 5,
        "name": "AWP | Asiimov (Field-Tested)",
        "attachments": [
            {"name": "Sticker | NiKo", "wear": 0.25},
            {"name": "sticker |  niko ", "wear": -0.0},
            {"name": "Sticker | NiKo"},
            {"name": "★", "wear": 1},
            {"name": "Sticker | 龍王 (Ōni™)", "wear": 0.1},
        ],
    },
    "odd-letters": {"id": 4, "name": "龍王 ♥\u0001 Jörmungandr\n~", "details": {"tournament": "壱\u2028"}},
}


@pytest.fixture(scope="module")
def platform() -> Platform:
    return next(iter(read_platforms()))


@pytest.mark.parametrize("name", CASES)
def test_documents_are_as_they_were(name: str, golden: Golden, platform: Platform) -> None:
    item = CASES[name]
    document = index_document(checked_item(orjson.dumps(item)), platform)
    shared = {entry.key: orjson.loads(entry.content) for entry in document["shared"]}
    shown = {**document, "item": orjson.loads(document["item"]), "shared": shared}
    golden(f"documents/{name}", {"item": item, "document": shown})
    assert index_document(checked_item(item), platform) == document


def _price(written: str, platform: Platform) -> Any:
    item = checked_item(b'{"id": 1, "name": "x", "price": %b}' % written.encode())
    return index_document(item, platform)["price"]


@pytest.mark.parametrize(
    ("written", "cents"),
    [("0.07", 7), ("1.1", 110), ("4.35", 435), ("1.005e2", 10050), ("999999999999.99", 99999999999999), ("10", 1000)],
)
def test_prices_become_exact_minor_units(written: str, cents: int, platform: Platform) -> None:
    assert _price(written, platform) == cents


def test_a_price_below_the_least_of_the_platform_is_refused(platform: Platform) -> None:
    market = Platform.model_validate({**platform.model_dump(by_alias=True), "min_price": Decimal("0.03")})
    assert _price("0.03", market) == 3
    assert _price("null", market) is None
    for written in ("0.02", "0", "-0"):
        with pytest.raises(ItemRefusedError, match=r"price: must be at least 0\.03, the least price of the platform"):
            _price(written, market)
    assert _price("0", platform) == 0, "without the key any price is taken"


REFUSED: list[tuple[str, bytes, str | None, str]] = [
    ("three decimals", b'{"id":1,"name":"x","price":1.001}', "price", "has more than 2 decimals"),
    ("negative price", b'{"id":1,"name":"x","price":-1}', "price", "greater than or equal to 0"),
    ("price too high", b'{"id":1,"name":"x","price":1e13}', "price", "less than or equal to 1000000000000"),
    ("price as text", b'{"id":1,"name":"x","price":"1"}', "price", "valid number"),
    ("NaN", b'{"id":1,"name":"x","price":NaN}', "price", "finite number"),
    ("no id", b'{"name":"x"}', "id", "Field required"),
    ("id as text", b'{"id":"1","name":"x"}', "id", "valid integer"),
    ("id as float", b'{"id":1.0,"name":"x"}', "id", "valid integer"),
    ("id of 65 bits", b'{"id":9223372036854775808,"name":"x"}', "id", "less than or equal to"),
    ("empty name", b'{"id":1,"name":""}', "name", "at least 1 character"),
    ("unknown key", b'{"id":1,"name":"x","colour":"red"}', "colour", "not permitted"),
    ("unknown inner key", b'{"id":1,"name":"x","details":{"kind":"a"}}', "details.kind", "not permitted"),
    ("our own name of a key", b'{"id":1,"name":"x","paint":{"wear":0.1}}', "paint.wear", "not permitted"),
    ("our own name of a link", b'{"id":1,"name":"x","inspect_link":"a"}', "inspect_link", "not permitted"),
    ("wrong word", b'{"id":1,"name":"x","details":{"weapon":5}}', "details.weapon", "valid string"),
    ("nameless sticker", b'{"id":1,"name":"x","attachments":[{"id":2}]}', "attachments.0.name", "Field required"),
    ("float over 1", b'{"id":1,"name":"x","paint":{"float":1.1}}', "paint.float", "less than or equal to 1"),
    ("half a surrogate", b'{"id":1,"name":"\\ud800"}', None, "Invalid JSON"),
    ("not UTF-8", b'{"id":1,"name":"\xff"}', None, "Invalid JSON"),
    ("NUL", b'{"id":1,"name":"a\\u0000"}', "name", "NUL"),
    ("no JSON", b"nonsense", None, "Invalid JSON"),
    ("no object", b"[1]", None, "should be an object"),
]


@pytest.mark.parametrize(("text", "field", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_refusal_names_the_field_and_the_rule(
    text: bytes, field: str | None, reason: str, platform: Platform
) -> None:
    with pytest.raises(ItemRefusedError) as caught:
        index_document(checked_item(text), platform)
    refusal = caught.value.refusals[0]
    assert refusal.field == field
    assert reason in refusal.reason


def test_a_refusal_lists_every_fault() -> None:
    with pytest.raises(ItemRefusedError) as caught:
        checked_item(b'{"id":"1","price":-1}')
    assert [refusal.field for refusal in caught.value.refusals] == ["id", "name", "price"]


def _listed(timestamp: str) -> int | None:
    return checked_item({"id": 1, "name": "x", "listedAt": timestamp}).listed_at


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.000000001z", 1_000_000_001),
        ("1970-01-01t00:00:00.1-00:00", 100_000_000),
        ("1969-12-31T23:00:00-01:00", 0),
        ("1970-01-01T23:59:00+23:59", 0),
        ("2024-02-29T23:59:59.999999999+18:00", 1_709_186_399_999_999_999),
        ("2261-12-31T23:59:59.999999999Z", 9_214_646_399_999_999_999),
    ],
)
def test_timestamps_become_exact_nanoseconds(text: str, nanoseconds: int) -> None:
    assert _listed(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-01-02", "RFC 3339"),
        ("2026-01-02T03:04:05", "RFC 3339"),
        ("2026-01-02 03:04:05Z", "RFC 3339"),
        ("2026-01-02T03:04:05.1234567890Z", "nine digits"),
        ("2026-01-02T03:04:05+24:00", "RFC 3339"),
        ("2026-02-30T03:04:05Z", "day is out of range"),
        ("2026-01-02T24:00:00Z", "hour must be"),
        ("2016-12-31T23:59:60Z", "second must be"),
        ("1969-12-31T23:59:59Z", "1970 to 2261"),
        ("1970-01-01T00:00:00+00:01", "1970 to 2261"),
        ("2262-01-01T00:00:00Z", "1970 to 2261"),
        ("0000-01-01T00:00:00Z", "out of range"),
        ("٢٠٢٦-01-02T03:04:05Z", "RFC 3339"),
    ],
)
def test_timestamps_that_are_none_or_cannot_be_stored_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ItemRefusedError) as caught:
        _listed(text)
    assert caught.value.refusals[0].field == "listedAt"
    assert reason in caught.value.refusals[0].reason


def test_values_of_a_table_that_were_not_utf_8_are_refused() -> None:
    with pytest.raises(ItemRefusedError) as caught:
        checked_item({"id": 1, "name": b"caf\xe9".decode("utf-8", "surrogateescape")})
    assert caught.value.refusals[0].field == "name"
    assert caught.value.refusals[0].value == "caf\\udce9"


def test_an_id_is_named_where_it_can_be_read() -> None:
    assert readable_id(b'{"id": -12, "name": nope') == -12
    assert readable_id(b'{"id": 1.5}') is None
    assert readable_id(b"nothing") is None
    assert readable_id({"id": 5}) == 5
    assert readable_id({"id": "5"}) is None
    assert readable_id(ItemRefusedError(())) is None


def test_long_and_odd_values_are_shown_short() -> None:
    assert shortened("a" * 500) == "a" * 119 + "…"
    assert shortened(["a", 1, None]) == '["a",1,null]'
    assert shortened(float("inf")) == "inf"
    assert shortened(2**70) == str(2**70)
    assert shortened(None) == "null"
    assert shortened(b"\xff") == "\\xff"
