"""A map gives our items of any source's columns, and says what is wrong with it or with an item."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from indexer.documents.checked_item import CheckedItem, checked_item
from indexer.documents.refusal import ItemRefusedError, Refusal
from indexer.errors import CommandError
from indexer.sources.item_map import read_item_map
from indexer.sources.mapping import Mapper
from indexer.sources.records import Record, SourceError
from indexer.sources.source import Source

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
BASE = '[fields]\nid = "id"\nname = "name"\n'


def mapper(text: str, folder: Path) -> Mapper:
    (folder / "map.toml").write_text(text, encoding="utf-8")
    return Mapper(read_item_map(folder / "map.toml"))


def example(name: str, *files: str) -> list[CheckedItem]:
    """The items of an example of the documents, all of them valid."""
    items = []
    used = Mapper(read_item_map(EXAMPLES / f"{name}.toml"))
    for file in files:
        with Source(str(EXAMPLES / file), used) as source:
            for record in source.records():
                assert isinstance(record.content, dict), record
                items.append(checked_item(record.content))
    assert used.unmatched_paths() == []
    return items


def test_prices_by_name() -> None:
    slate, printstream, karambit, sticker = example("by-name", "by-name.json")
    assert (slate.name, slate.price, slate.details.weapon) == ("AK-47 | Slate (Field-Tested)", 4.13, "AK-47")
    assert (slate.details.exterior, slate.details.quality) == ("Field-Tested", "Normal")
    assert (printstream.price, printstream.details.weapon) == (187.5, "M4A1-S")
    assert printstream.details.quality == "StatTrak™"
    assert (karambit.price, karambit.details.weapon, karambit.details.quality) == (1290, "Karambit", "★")
    assert (sticker.price, sticker.details.weapon, sticker.details.exterior) == (None, None, None)
    digest = hashlib.sha256(slate.name.encode()).digest()
    assert slate.id == int.from_bytes(digest[:8], "big") >> 1


def test_an_array_of_offers() -> None:
    slate, vogue, aberration = example("offers", "offers.json")
    assert (slate.price, slate.details.exterior, slate.details.weapon) == (3.91, "Field-Tested", "AK-47")
    assert slate.details.type == "Weapon"
    assert slate.listed_at == 1767225600 * 10**9
    assert (vogue.price, vogue.details.exterior) == (None, "Minimal Wear")
    assert aberration.price == 21.4
    digest = hashlib.sha256(f"{slate.name}\0EUR".encode()).digest()
    assert slate.id == int.from_bytes(digest[:8], "big") >> 11 < 2**53


def test_pages_of_single_items_in_cents() -> None:
    slate, aberration, coin = example("pages", "page-1.json", "page-2.json")
    assert (slate.id, slate.price, slate.paint.wear, slate.paint.seed) == (38114950021, 4.12, 0.2134567890123, 661)
    assert [(attachment.name, attachment.wear, attachment.type) for attachment in slate.attachments] == [
        ("Harp of War (Holo)", 0.25, "sticker"),
        ("Battle Scarred", None, "sticker"),
    ]
    assert (aberration.price, aberration.attachments) == (21.4, [])
    assert (coin.id, coin.price, coin.details.exterior) == (2**63 - 1, None, None)


def taken(rule: str, content: dict[str, Any], folder: Path, field: str = "description") -> Any:
    """What a rule makes of `content`; the refusal's reason where it cannot be applied."""
    record = mapper(f"{BASE}{field} = {rule}\n[lookups.t]\na = 'A'\n1 = 'one'\n", folder).apply(
        Record(1, {"id": 5, "name": "n", **content})
    )
    if isinstance(record.content, ItemRefusedError):
        assert record.content.refusals[0].field == field
        return f"refused: {record.content.refusals[0].reason}"
    assert isinstance(record.content, dict)
    return record.content.get(field)


@pytest.mark.parametrize(
    ("rule", "content", "expected"),
    [
        ('"a.b"', {"a": {"b": "deep"}}, "deep"),
        ('"a.b"', {"a": {"b": "deep"}, "a.b": "wide"}, "wide"),
        ('"a.1.b"', {"a": [0, {"b": "in a list"}]}, "in a list"),
        ('"a.7"', {"a": [0]}, None),
        ('"a.b"', {"a": 5}, None),
        ('["x", "y"]', {"y": "second"}, "second"),
        ('{ from = ["x", "y"], absent = ["", "-"] }', {"x": "-", "y": "second"}, "second"),
        ('{ from = "x", absent = [0] }', {"x": False}, False),
        ('{ from = "x", default = "none" }', {}, "none"),
        ('{ from = "x", default = "none" }', {"x": ""}, "none"),
        ('{ from = "x", split = { at = "|", part = -1 } }', {"x": "a | b"}, "b"),
        ('{ from = "x", split = { at = "|", part = 3 } }', {"x": "a | b"}, None),
        ('{ from = "x", pattern = "(b+)" }', {"x": "abba"}, "bb"),
        ('{ from = "x", pattern = "(c+)" }', {"x": "abba"}, None),
        ('{ from = "x", pattern = "(c+)" }', {"x": {}}, "refused: is no plain value"),
        ('{ from = "x", lookup = "t" }', {"x": "a"}, "A"),
        ('{ from = "x", lookup = "t" }', {"x": 1}, "one"),
        ('{ from = "x", lookup = "t" }', {"x": "b"}, "refused: is not in the table t"),
        ('{ from = "x", lookup = "t", unknown = "keep" }', {"x": "b"}, "b"),
        ('{ from = "x", lookup = "t", unknown = "absent" }', {"x": "b"}, None),
    ],
)
def test_rules_of_text(rule: str, content: dict[str, Any], expected: Any, tmp_path: Path) -> None:
    assert taken(rule, content, tmp_path) == expected


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("{ from = 'x', scale = -2 }", 107, 1.07),
        ("{ from = 'x', scale = -2 }", "100000000000000", 10**12),
        ("{ from = 'x', scale = 2 }", 0.07, 7),
        ("{ from = 'x', round = 2 }", 1.005, 1.0),
        ("{ from = 'x', round = 2 }", 1.015, 1.02),
        ("{ from = 'x', scale = -3, round = 2 }", 12345, 12.34),
        ("{ from = 'x', pattern = '([0-9.]+)' }", "$12.30 USD", 12.3),
        ("{ from = 'x', scale = -2 }", "12,30", "refused: is no number, which scale needs"),
        ("{ from = 'x', round = 2 }", True, "refused: is no number, which round needs"),
        ("{ from = 'x', scale = -2 }", float("inf"), "refused: is no number, which scale needs"),
        ("'x'", "12.34", 12.34),
        ("'x'", "n/a", "n/a"),  # which the validation refuses
    ],
)
def test_rules_of_numbers_are_exact(rule: str, value: Any, expected: Any, tmp_path: Path) -> None:
    assert taken(rule, {"x": value}, tmp_path, "price") == expected


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        ("seconds", 1767225600, "2026-01-01T00:00:00Z"),
        ("seconds", "1767225600.25", "2026-01-01T00:00:00.25Z"),
        ("milliseconds", 1767225600123, "2026-01-01T00:00:00.123Z"),
        ("seconds", "-0.0", "1970-01-01T00:00:00Z"),
        ("seconds", -1, "refused: is no time in seconds since 1970"),
        ("seconds", "9" * 40, "refused: is no time in seconds since 1970"),
        ("seconds", "today", "refused: is no number, which time needs"),
    ],
)
def test_timestamps(unit: str, value: Any, expected: str, tmp_path: Path) -> None:
    assert taken(f"{{ from = 'x', time = '{unit}' }}", {"x": value}, tmp_path, "listedAt") == expected


def test_attachments_are_taken_one_by_one(tmp_path: Path) -> None:
    rule = "{ from = 'x', each = { name = 'n', wear = { from = 'w', scale = -2 } } }"
    assert taken(rule, {"x": '[{"n": "a", "w": 50}]'}, tmp_path, "attachments") == [{"name": "a", "wear": 0.5}]
    assert "no list" in taken(rule, {"x": 5}, tmp_path, "attachments")
    assert "Invalid JSON" in taken(rule, {"x": "["}, tmp_path, "attachments")
    assert "element 1 is no object" in taken(rule, {"x": [{}, 5]}, tmp_path, "attachments")
    assert "element 0: wear is no number" in taken(rule, {"x": [{"w": "x"}]}, tmp_path, "attachments")


def test_faults_name_the_line_the_id_and_both_names_of_the_field(tmp_path: Path) -> None:
    used = mapper('[fields]\nid = "nr"\nname = "title"\nprice = { from = "cents", scale = -2 }\n', tmp_path)
    record = used.apply(Record(7, b'{"nr": "12", "title": "a", "cents": "x"}'))
    assert isinstance(record.content, ItemRefusedError)
    assert (record.line, record.content.item_id) == (7, 12)
    (refusal,) = used.with_source_names(record.content.refusals)
    assert (refusal.field, refusal.value) == ("price", "x")
    assert refusal.reason == "is no number, which scale needs (from cents)"
    invalid = used.apply(Record(8, {"nr": 1, "title": "", "cents": 5}))
    assert isinstance(invalid.content, dict)
    with pytest.raises(ItemRefusedError) as caught:
        checked_item(invalid.content)
    assert used.with_source_names(caught.value.refusals)[0].reason.endswith("(from title)")


@pytest.mark.parametrize("content", [b"5", b"[1]", b"{"])
def test_what_is_no_object_is_one_refused_item(content: bytes, tmp_path: Path) -> None:
    assert isinstance(mapper(BASE, tmp_path).apply(Record(1, content)).content, ItemRefusedError)


def test_an_item_whose_hash_lacks_a_part_has_no_id(tmp_path: Path) -> None:
    used = mapper('[fields]\nid = { hash = ["a", "b"] }\nname = "a"\n', tmp_path)
    assert used.apply(Record(1, {"a": "x"})).content == {"name": "x"}
    assert used.unmatched_paths() == ["b"]


def test_any_header_of_a_table_may_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('nr,title,"price, net"\n7,a,1.50\n8,b,\n9\n')
    used = mapper('[fields]\nid = "nr"\nname = "title"\nprice = "price, net"\n', tmp_path)
    with Source(str(tmp_path / "a.csv"), used) as source:
        first, second, broken = [record.content for record in source.records()]
    assert first == {"id": 7, "name": "a", "price": 1.5}
    assert second == {"id": 8, "name": "b"}
    assert isinstance(broken, ItemRefusedError)
    (tmp_path / "a.csv").write_text("nr,nr\n")
    with pytest.raises(SourceError, match="twice"), Source(str(tmp_path / "a.csv"), used) as source:
        list(source.records())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[fields", "is no TOML"),
        ("", "fields: Field required"),
        ('[fields]\nname = "a"', "fields.id is missing"),
        (f'{BASE}colour = "x"', "fields.colour is no field of an item; these are: id, name"),
        (f"{BASE}price = {{ scale = 2 }}", "fields.price: needs one of from, constant and hash; it has none"),
        (f'{BASE}price = {{ from = "a", constant = 2 }}', "it has from and constant"),
        (f'{BASE}price = {{ hash = "a" }}', "hash is for id alone"),
        (f'{BASE}price = {{ from = "a", times = 2 }}', "Extra inputs are not permitted"),
        (f'{BASE}image = {{ from = "a", pattern = "(" }}', "is no regular expression"),
        (f'{BASE}image = {{ from = "a", pattern = "a" }}', "needs one group"),
        (f'{BASE}image = {{ from = "a", split = {{ at = "|", part = 0 }} }}', "counted from 1"),
        (f'{BASE}image = {{ from = "a", lookup = "t" }}', r"no table \[lookups.t\]"),
        (f'{BASE}image = {{ from = "a", each = {{}} }}', "each is for attachments alone"),
        (f'{BASE}attachments = {{ from = "a", each = {{ nam = "b" }} }}', "attachments.each.name is missing"),
    ],
)
def test_a_map_that_cannot_be_used_says_why(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=message) as caught:
        mapper(text, tmp_path)
    assert re.search(r"map\.toml", str(caught.value))


def test_a_map_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"absent\.toml cannot be read"):
        read_item_map(tmp_path / "absent.toml")


def test_a_field_without_a_name_in_the_source_is_named_as_ours(tmp_path: Path) -> None:
    used = mapper(BASE + "price = { constant = 5 }\n", tmp_path)
    refusals = (Refusal("price", "5", "is wrong"), Refusal(None, "", "is no item"))
    assert used.with_source_names(refusals) == refusals


@pytest.mark.parametrize("rule", ['pattern = "(A.*)"', 'split = { at = "\'", part = 2 }'])
def test_bytes_are_no_text(rule: str, tmp_path: Path) -> None:
    """A column of Parquet without a type of texts has them."""
    rules = f'{BASE}[fields."details.weapon"]\nfrom = "weapon"\n{rule}\n'
    record = mapper(rules, tmp_path).apply(Record(1, {"id": 1, "name": "a", "weapon": b"AK-47"}))
    assert isinstance(record.content, ItemRefusedError)
    assert record.content.refusals[0].reason == "is no plain value"
