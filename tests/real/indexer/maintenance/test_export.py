"""An export on a real engine: everything that is served, loadable again as it was, or an exit code that is not 0."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from indexer.documents.checked_item import LoadedItem
from indexer.errors import CommandError
from indexer.maintenance import export
from mappings.names import products_of
from tests.support.indexer.fixtures import Place, items, lines

ODD: list[dict[str, Any]] = [
    {"id": 2**63 - 1, "name": '"quoted" \\ ★ ™ 龍王 \U0001f409', "price": None},
    {"id": -(2**63), "name": "two\nlines\u2028\t", "price": 0},
    {"id": 2**53 + 1, "name": " ", "price": 10**12, "description": ""},
    {
        "id": 0,
        "name": "é é",
        "price": 1.07,
        "listedAt": "2026-01-02T03:04:05.123456789+05:30",
        "image": "https://example.org/a.png",
        "inspectLink": "steam://x",
        "details": {"weapon": "AK-47", "type": "Rifle", "phase": "Phase 2"},
        "paint": {"float": 0.07000000029802322, "seed": 2**63 - 1, "index": -1, "pattern": 0},
        "attachments": [{"id": 9, "name": "a,b", "wear": 0.1, "type": "sticker"}, {"name": "c"}],
    },
    {"id": 7, "name": "first", "paint": {"float": 1e-9}, "listedAt": "1970-01-01T00:00:00Z"},
    {"id": 8, "name": "last", "paint": {"float": 1}, "listedAt": "2261-12-31T23:59:59.999999999Z"},
]


def exported(place: Place, name: str) -> bytes:
    """A whole export, unpacked."""
    report = place.json("export", "--platform", "730", "--output", name, "--quiet")
    data = Path(name).read_bytes()
    plain = gzip.decompress(data) if name.endswith(".gz") else data
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(plain) if name.endswith(".zst") else plain
    assert (report["complete"], report["bytes"], report["items"]) == (True, len(plain), len(plain.splitlines()))
    assert report["expected"] == report["items"]
    return plain


def test_load_and_export_go_round_without_a_byte_of_difference(place: Place) -> None:
    place.put([*reversed(items(1200, first=100)), *ODD])
    first = exported(place, "first.ndjson")
    place.json("load", "first.ndjson", "--platform", "730", "--quiet")
    assert exported(place, "second.ndjson") == first
    assert [orjson.loads(line)["id"] for line in first.splitlines()] == sorted(
        [*range(100, 1300), *(item["id"] for item in ODD)]
    )
    assert first.startswith(b'{"id":-9223372036854775808,"name":"two')
    shown = {row["id"]: row for row in map(orjson.loads, first.splitlines())}
    for item in ODD:
        assert LoadedItem.model_validate(shown[item["id"]]) == LoadedItem.model_validate(item)
    assert shown[0]["listedAt"] == "2026-01-01T21:34:05.123456789Z"
    assert shown[0]["paint"]["float"] == 0.07000000029802322


def test_neighbours_that_were_deleted_leave_out_no_others(place: Place) -> None:
    place.load(items(1200))
    place.run("delete", *map(str, range(300, 700)), "--platform", "730")
    place.run("upsert", "-", "--platform", "730", stdin=lines(items(4, first=2000)))
    place.client.indices.refresh(index=place.alias)
    ids = [orjson.loads(line)["id"] for line in exported(place, "a.ndjson").splitlines()]
    assert ids == [*range(1, 300), *range(700, 1201), *range(2000, 2004)]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_is_compressed_by_its_name(ending: str, place: Place) -> None:
    place.put(items(3))
    assert len(exported(place, f"a.ndjson{ending}").splitlines()) == 3


def test_items_go_to_stdout_and_talk_to_stderr(place: Place) -> None:
    place.put(items(3))
    result = place.run("export", "--platform", "cs2")
    assert [orjson.loads(line)["id"] for line in result.stdout.splitlines()] == [1, 2, 3]
    assert "3 items" in result.stderr
    assert place.run("export", "--platform", "730", "--json").exit_code == 2


def test_an_empty_platform_is_an_empty_file_and_nothing_loaded_is_an_error(place: Place) -> None:
    response = place.json("export", "--platform", "730", "--output", "none.ndjson", code=1)
    assert "nothing is loaded" in response["error"]
    assert response["complete"] is False
    assert not list(Path().glob("none*"))
    place.load([], "--allow-empty")
    assert exported(place, "empty.ndjson") == b""


def test_what_is_loaded_meanwhile_is_not_in_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PAGE_ITEMS", 4)
    place.put(items(10))
    pieces = export.Export(place.client, place.alias).pieces()
    first = next(pieces)
    place.load(items(3, first=500), "--keep", "2", "--min-share", "0")
    ids = [orjson.loads(line)["id"] for line in (first + b"".join(pieces)).splitlines()]
    assert ids == list(range(1, 11))


def test_a_point_in_time_that_the_engine_lost_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PAGE_ITEMS", 2)
    place.put(items(5))
    interrupted = export.Export(place.client, place.alias)
    pieces = interrupted.pieces()
    next(pieces)
    place.client.transport.perform_request("DELETE", "/_search/point_in_time", body={"pit_id": [interrupted.scan.id]})
    with pytest.raises(CommandError, match=r"lost the point in time .* after 2 items"):
        b"".join(pieces)


@pytest.mark.parametrize("product", [{"platform": 730, "stickers": "Crown"}, {"part": "a description"}])
def test_a_product_of_another_kind_is_an_error(place: Place, product: dict[str, Any]) -> None:
    index = products_of(place.load(items(1))["index"])
    key = place.client.search(index=index)["hits"]["hits"][0]["_id"]
    place.client.index(index=index, id=key, body=product, params={"refresh": "true"})
    response = place.json("export", "--platform", "730", "--output", "none.ndjson", code=1)
    assert "lacks a product; export again, or see gear-indexer doctor" in response["error"]
    assert (response["complete"], response["items"], response["expected"]) == (False, 0, 1)
    assert not list(Path().glob("none*"))


def test_lines_are_what_a_load_reads(place: Place) -> None:
    place.put(ODD)
    text = place.run("export", "--platform", "730", "--quiet").stdout_bytes
    assert text == exported(place, "a.ndjson")
    report = place.json("load", "-", "--platform", "730", "--quiet", stdin=text)
    assert (report["indexed"], report["rejected"]) == (len(ODD), 0)
    assert len(lines(ODD).splitlines()) == len(text.splitlines())
