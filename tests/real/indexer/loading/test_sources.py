"""Loads of many files, addresses, Parquet and catalogues in another shape, on a real engine."""

from pathlib import Path

import orjson
import pytest
from arro3.core import DataType, Field, Schema
from arro3.io import read_json, write_parquet

from tests.support.indexer.file_server import FileServer
from tests.support.indexer.fixtures import Place, items, lines

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"


def test_a_pattern_is_all_its_files_in_order(place: Place) -> None:
    for number in (2, 10, 1):
        (place.folder / f"part-{number:02}.ndjson").write_bytes(lines([*items(1, first=number), *items(1, first=99)]))
    report = place.json("load", "part-*.ndjson", "--platform", "730", "--quiet")
    assert (report["read"], report["indexed"], report["duplicates"]) == (6, 4, 2)
    rows = [orjson.loads(line) for line in Path(report["rejects"]).read_bytes().splitlines()]
    assert [row["file"] for row in rows] == ["part-02.ndjson", "part-10.ndjson"]
    (place.folder / "what[1].ndjson").write_bytes(lines(items(1)))
    assert place.json("load", "what[1].ndjson", "--platform", "730", "--quiet", "--min-share", "0")["indexed"] == 1


def test_a_pattern_that_matches_nothing_is_an_error(place: Place) -> None:
    (place.folder / "a.ndjson").write_bytes(lines(items(1)))
    report = place.json("load", "a.ndjson", "b-*.ndjson", "--platform", "730", "--quiet", code=1)
    assert "b-*.ndjson: no file matches this pattern" in report["error"]
    assert place.indices() == []


def test_an_address_is_loaded_over_cuts(place: Place) -> None:
    with FileServer(lines(items(2000))) as server:
        server.cuts = [1000, 40_000, 50_000]  # the first is the look at the size
        result = place.run("load", server.url(), "--platform", "730", "--json")
        report = orjson.loads(result.stdout)
    assert (report["read"], report["indexed"], report["error"]) == (2000, 2000, None)
    assert f"{server.url()}: {len(server.body):,} bytes\n" in result.stderr
    assert "trying again at byte" in result.stderr


def test_a_cut_that_cannot_be_gone_on_with_leaves_the_old_index(place: Place) -> None:
    old = place.put(items(2))
    with FileServer(lines(items(2000)), ranges=False) as server:
        server.cuts = [1000, 50_000]
        report = place.json("load", server.url(), "--platform", "730", "--quiet", code=1)
    assert "cannot resume a download" in report["error"]
    assert place.indices() == [old]


def test_an_address_that_is_not_there_is_reported_before_anything_is_done(place: Place) -> None:
    with FileServer(b"", statuses=[404]) as server:
        report = place.json("load", server.url(), "--platform", "730", "--quiet", code=1)
    assert "the server answered 404 Not Found" in report["error"]
    assert place.indices() == []


@pytest.mark.parametrize("remote", [False, True])
def test_parquet_is_loaded_with_its_row_numbers(remote: bool, place: Place) -> None:
    schema = Schema(
        [
            Field("id", DataType.int64()),
            Field("name", DataType.utf8()),
            Field("price", DataType.float64()),
        ]
    )
    text = place.folder / "rows.ndjson"
    text.write_bytes(lines([*items(3), {"id": 4, "name": "d", "price": 0.001}]))
    write_parquet(read_json(text, schema), place.folder / "rows.parquet")
    options = ("--platform", "730", "--quiet", "--max-rejects", "50")
    with FileServer((place.folder / "rows.parquet").read_bytes(), cuts=[10, 200]) as server:
        report = place.json("load", server.url("rows") if remote else "rows.parquet", *options)
    assert (report["indexed"], report["rejected"]) == (3, 1)
    row = orjson.loads(Path(report["rejects"]).read_bytes())
    assert (row["line"], row["id"], row["field"]) == (4, 4, "price")
    assert place.served() == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "files", "count"),
    [("by-name", ["by-name.json"], 4), ("offers", ["offers.json"], 3), ("pages", ["page-*.json"], 3)],
)
def test_the_examples_of_the_documents_can_be_loaded(name: str, files: list[str], count: int, place: Place) -> None:
    options = ("--map", str(EXAMPLES / f"{name}.toml"), "--platform", "730", "--quiet")
    report = place.json("load", *(str(EXAMPLES / file) for file in files), *options)
    assert (report["read"], report["indexed"], report["rejects"]) == (count, count, None)


def test_rejects_of_a_mapped_source_name_both_fields(place: Place) -> None:
    Path("prices.json").write_text('[{"title": "a", "cents": "x"},\n {"title": "b", "cents": 12.345},{"title": ""}]')
    Path("map.toml").write_text(
        '[fields]\nid = { hash = "title" }\nname = "title"\nprice = { from = "cents", scale = -2 }\nimage = "picture"\n'
    )
    result = place.run("load", "prices.json", "--map", "map.toml", "--platform", "730", "--dry-run")
    assert "prices.json, line 1: id " in result.stderr
    assert "| price | x | is no number, which scale needs (from cents)" in result.stderr
    assert "line 2: id " in result.stderr
    assert "has more than 2 decimals (from cents)" in result.stderr
    assert "no item has picture, which the map reads" in result.stderr


def test_a_map_that_cannot_be_used_stops_the_load_before_anything_is_done(place: Place) -> None:
    Path("map.toml").write_text('[fields]\nid = "a"\n')
    report = place.json("load", "-", "--map", "map.toml", "--platform", "730", "--quiet", code=1)
    assert "the map map.toml cannot be used: fields.name is missing" in report["error"]
    assert place.indices() == []
