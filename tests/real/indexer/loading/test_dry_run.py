"""A dry run on a real engine: says what a load would do, does nothing, and fails where a load would."""

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from mappings.definition import read_definition
from mappings.names import generation_name
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import create_generation

DRY = ("--platform", "730", "--quiet", "--dry-run")


def test_what_a_load_would_do_is_said_and_nothing_is_done(place: Place) -> None:
    index = place.load(items(3))["index"]
    before = place.indices()
    report = place.json("load", "-", *DRY, stdin=lines([*items(5), *items(1)]))
    assert (report["read"], report["accepted"], report["rejected"], report["duplicates"]) == (6, 5, 0, 1)
    assert (report["serving"], report["items"]) == (index, 3)
    assert (report["definition"], report["changes"], report["refusals"]) == ("equal", {}, [])
    assert (report["dryRun"], report["wouldSwap"]) == (True, True)
    assert place.indices() == before
    assert place.served() == [1, 2, 3]
    assert list(Path().glob("*.rejects.ndjson")) == []


def test_a_first_load_can_be_tried_too(place: Place) -> None:
    result = place.run("load", "-", *DRY, stdin=lines(items(2)))
    assert result.exit_code == 0
    assert "2 read, 2 accepted, 0 rejected, 0 duplicates; nothing serves now" in result.stdout
    assert place.indices() == []


def test_rejects_are_counted_by_reason_and_the_first_ten_are_shown(place: Place) -> None:
    broken = [{"id": number, "name": "a", "price": number + 0.001} for number in range(101, 121)]
    stickers: list[dict[str, Any]] = [
        {"id": number, "name": "a", "attachments": [{}] * (number - 200)} for number in (201, 202)
    ]
    source = lines([*items(10), *broken, *stickers]) + b'\n{"id": 5,\n'
    result = place.run("load", "-", *DRY, "--json", stdin=source)
    assert result.exit_code == 1
    report = orjson.loads(result.stdout)
    assert (report["read"], report["rejected"], report["accepted"]) == (33, 23, 10)
    assert report["reasons"]["price: has more than 2 decimals"] == 20
    assert report["reasons"]["attachments.*.name: Field required"] == 2
    assert sum(report["reasons"].values()) == 23
    assert "23 of 33 items were refused, more than 1 % (--max-rejects)" in report["error"]
    assert report["wouldSwap"] is False
    shown = [line for line in result.stderr.splitlines() if line.startswith("-, line ")]
    assert len(shown) == 10
    assert shown[0] == "-, line 11: id 101 | price | 101.001 | has more than 2 decimals"


def test_the_rejects_file_is_written_where_it_is_named(place: Place) -> None:
    place.run("load", "-", *DRY, "--rejects", "mine.ndjson", stdin=lines([{"id": 1}]))
    row = orjson.loads(Path("mine.ndjson").read_bytes())
    assert (row["line"], row["id"], row["field"]) == (1, 1, "name")


def test_the_rejects_file_is_closed_where_the_source_fails(place: Place) -> None:
    Path("cut.json").write_bytes(orjson.dumps([{"id": 1}, {"id": 2}])[:-4])
    place.json("load", "cut.json", *DRY, "--rejects", "mine.ndjson", code=1)
    assert orjson.loads(Path("mine.ndjson").read_bytes())["id"] == 1


def test_what_would_be_refused_is_an_error(place: Place) -> None:
    place.put(items(2))
    empty = place.json("load", "-", *DRY, stdin=b"", code=1)
    assert "--allow-empty" in empty["error"]
    assert place.json("load", "-", *DRY, "--allow-empty", stdin=b"")["wouldSwap"] is True
    Path("cut.json").write_bytes(orjson.dumps(items(3))[:-4])
    cut = place.json("load", "cut.json", *DRY, code=1)
    assert "breaks off" in cut["error"]
    assert (cut["read"], cut["wouldSwap"]) == (2, False)


def test_a_definition_that_differs_is_shown_field_by_field(place: Place) -> None:
    """What serves was made by another version: a field more, one less, one of another type, in either index."""
    definition = replace(deepcopy(read_definition()), fingerprint="00000000")
    fields, product_fields = (body["mappings"]["properties"] for body in (definition.body, definition.products))
    del fields["seed"]
    fields["wear"] = {"type": "keyword"}
    fields["price"]["type"] = "double"
    del product_fields["finish"]["fields"]["typed"]
    product_fields["wear"] = {"type": "keyword"}
    product_fields["minorDigits"]["type"] = "long"
    old = generation_name(place.alias, datetime.now(UTC), "00000000")
    create_generation(place.client, old, place.alias, definition=definition)
    report = place.json("load", "-", *DRY, stdin=lines(items(1)))
    assert report["definition"] == "differs"
    assert report["changes"] == {
        "added": ["seed", "products.finish.typed"],
        "removed": ["wear", "products.wear"],
        "changed": ["price (type double instead of long)", "products.minorDigits (type long instead of integer)"],
    }
    text = place.run("load", "-", *DRY, stdin=lines(items(1))).stdout
    assert "the definition differs: added seed, products.finish.typed; removed wear, products.wear; changed" in text


def test_a_load_is_refused_in_the_words_of_its_dry_run(place: Place) -> None:
    place.put(items(20))
    source = lines([*items(5), *({"id": number} for number in range(100, 105))])
    options = ("load", "-", "--platform", "730", "--quiet", "--rejects", "mine.ndjson")
    dry = place.json(*options, "--dry-run", stdin=source, code=1)
    load = place.json(*options, stdin=source, code=1)
    assert len(dry["refusals"]) == 2
    assert load["error"] == "; ".join(dry["refusals"])


@pytest.mark.parametrize("name", ["absent.ndjson", "absent-*.ndjson"])
def test_a_source_that_is_not_there_is_named(name: str, place: Place) -> None:
    assert name in place.json("load", name, *DRY, code=1)["error"]


def test_far_fewer_items_than_serve_would_be_refused(place: Place) -> None:
    place.put(items(20))
    report = place.load(items(9), "--dry-run", code=1)
    assert (report["wouldSwap"], "--min-share" in report["error"]) == (False, True)
    assert place.load(items(9), "--dry-run", "--min-share", "45")["wouldSwap"] is True
