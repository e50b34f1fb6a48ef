"""A load on a real engine: complete and checked before anybody sees it, or not seen at all."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from indexer.documents.checked_item import CheckedItem
from indexer.documents.document import index_document
from mappings.definition import read_definition
from mappings.platforms import Platform
from tests.support.indexer.fixtures import Place, items, lines

RFC = {"id": 5, "name": "★ Karambit", "listedAt": "2026-01-02T03:04:05Z", "price": 1.07, "paint": {"float": 0.1}}


def test_the_first_load_serves_what_it_read(place: Place) -> None:
    report = place.load([*items(3), RFC])
    assert report["error"] is None
    assert (report["read"], report["indexed"], report["rejected"], report["duplicates"]) == (4, 4, 0, 0)
    assert report["swapped"] is True
    assert report["platform"] == 730
    assert report["alias"] == place.alias
    assert report["index"].startswith(f"{place.alias}-")
    assert place.served() == [1, 2, 3, 5]
    document = place.client.get(index=place.alias, id="5")["_source"]
    assert (document["float"], document.get("seed"), document.get("pattern")) == (0.1, None, None)
    assert document["price"] == 107


def test_an_index_in_service_has_the_settings_of_service(place: Place) -> None:
    index = place.load(items(2))["index"]
    settings = place.client.indices.get_settings(index=index, params={"flat_settings": "true"})[index]["settings"]
    assert settings["index.refresh_interval"] == "1s"
    assert settings["index.auto_expand_replicas"] == "0-1"
    mapping = place.client.indices.get_mapping(index=index)[index]["mappings"]
    assert mapping["_meta"]["fingerprint"] == read_definition().fingerprint
    assert mapping["dynamic"] == "strict"
    assert list(place.client.indices.get_alias(index=index)[index]["aliases"]) == [place.alias]


def test_a_second_load_replaces_the_first_as_a_whole(place: Place) -> None:
    first = place.load(items(3))
    second = place.load(items(3, first=10))
    assert second["previous"] == first["index"]
    assert place.served() == [10, 11, 12]
    assert place.indices() == [first["index"], second["index"]]


def test_the_oldest_generation_goes_once_there_are_too_many(place: Place) -> None:
    first, second, third = (place.load(items(1, first=number)) for number in (1, 2, 3))
    assert third["removed"] == [first["index"]]
    assert place.indices() == [second["index"], third["index"]]
    only = place.load(items(1, first=4), "--keep", "1")
    assert place.indices() == [only["index"]]


def test_refused_items_are_listed_with_line_field_and_reason(place: Place) -> None:
    source = place.folder / "items.csv"
    source.write_text("id,name,price\n1,a,1.5\n2,b,1.005\n3,,2\nx,d,1\n1,again,1\n")
    report = place.json("load", str(source), "--platform", "cs2", "--max-rejects", "60", "--quiet")
    assert (report["read"], report["indexed"], report["rejected"], report["duplicates"]) == (5, 1, 3, 1)
    assert report["rejects"] == f"{report['index']}.rejects.ndjson"
    rows = [orjson.loads(line) for line in Path(report["rejects"]).read_bytes().splitlines()]
    rejected = [(row["file"], row["line"], row["id"], row["field"], row["value"]) for row in rows]
    assert rejected == [
        (str(source), 3, 2, "price", "1.005"),
        (str(source), 4, 3, "name", None),
        (str(source), 5, None, "id", "x"),
        (str(source), 6, 1, "id", "1"),
    ]
    assert rows[0]["reason"] == "has more than 2 decimals"
    assert "duplicate" in rows[3]["reason"]
    assert place.client.get(index=place.alias, id="1")["_source"]["name"] == "a"


def test_what_only_the_engine_refuses_is_a_reject_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """No valid item is known that the engine refuses, so a document is broken on its way."""

    def with_an_unknown_field(item: CheckedItem, platform: Platform) -> dict[str, Any]:
        return {**index_document(item, platform), **({"x": 1} if item.id == 2 else {})}

    monkeypatch.setattr("indexer.loading.items.index_document", with_an_unknown_field)
    report = place.load(items(3), "--max-rejects", "40", "--rejects", "mine.ndjson")
    assert (report["indexed"], report["rejected"], report["rejects"]) == (2, 1, "mine.ndjson")
    row = orjson.loads(Path("mine.ndjson").read_bytes())
    assert (row["line"], row["id"]) == (2, 2)
    assert "strict_dynamic_mapping_exception" in row["reason"]
    assert place.served() == [1, 3]


def test_too_many_rejects_leave_the_old_index(place: Place) -> None:
    old = place.put(items(2))
    report = place.load([*items(50, first=100), {"id": 1}], "--max-rejects", "1.5", code=1)
    assert report["swapped"] is False
    assert "--max-rejects" in report["error"]
    assert (report["read"], report["indexed"], report["rejected"]) == (51, 50, 1)
    assert place.indices() == [old]
    assert place.served() == [1, 2]
    assert Path(report["rejects"]).exists()


def test_an_empty_source_leaves_the_old_index_unless_it_is_meant(place: Place) -> None:
    place.put(items(2))
    report = place.load([], code=1)
    assert "--allow-empty" in report["error"]
    assert place.served() == [1, 2]
    assert place.load([], "--allow-empty")["swapped"] is True
    assert place.served() == []


def test_a_source_that_breaks_off_leaves_the_old_index(place: Place) -> None:
    old = place.put(items(2))
    (place.folder / "cut.json").write_bytes(orjson.dumps(items(5))[:-10])
    report = place.json("load", "cut.json", "--platform", "730", "--quiet", code=1)
    assert "breaks off" in report["error"]
    assert report["swapped"] is False
    assert place.indices() == [old]


def test_a_rejects_file_that_cannot_be_written_stops_the_load(place: Place) -> None:
    report = place.load([{"id": 1}], "--rejects", "absent/folder/a.ndjson", code=1)
    assert "--rejects" in report["error"]
    assert place.indices() == []


def test_several_files_are_one_catalogue(place: Place) -> None:
    (place.folder / "a.ndjson").write_bytes(lines(items(3)))
    (place.folder / "b.json").write_bytes(orjson.dumps(items(3, first=3)))
    report = place.json("load", "a.ndjson", "b.json", "--platform", "730", "--quiet")
    assert (report["read"], report["indexed"], report["duplicates"]) == (6, 5, 1)
    row = orjson.loads(Path(report["rejects"]).read_bytes())
    assert (row["file"], row["line"]) == ("b.json", 1)
    assert place.served() == [1, 2, 3, 4, 5]


def test_an_index_in_the_place_of_the_alias_is_refused(place: Place) -> None:
    place.client.indices.create(index=place.alias)
    place.client.index(index=place.alias, body={"some": "body"}, params={"refresh": "true"})
    report = place.load(items(1), code=1)
    assert "must be an alias" in report["error"]
    assert place.indices() == [place.alias]


def test_an_alias_that_points_elsewhere_is_refused(place: Place) -> None:
    place.client.indices.create(index=f"{place.alias}-mine", body={"aliases": {place.alias: {}}})
    report = place.load(items(1), code=1)
    assert "which no load has made" in report["error"]


def test_talk_goes_to_stderr_and_can_be_silenced(place: Place) -> None:
    text = orjson.dumps(items(1)[0])
    loud = place.run("load", "-", "--platform", "730", stdin=text)
    assert loud.stdout == ""
    assert "1 read, 1 indexed" in loud.stderr
    quiet = place.run("load", "-", "--platform", "730", "--quiet", stdin=text)
    assert (quiet.exit_code, quiet.output) == (0, "")
