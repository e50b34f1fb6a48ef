"""The sample: valid listings of every row, within the limits of their finish, and the same bytes each time."""

import gzip
import hashlib
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from indexer.cli.run_output import write_pieces
from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.errors import CommandError
from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import FIRST_ID, Sampler
from mappings.platforms import Platform, read_platforms

CATALOGUE = Path("data/catalogue.ndjson.gz")
COUNT = 8_000


@pytest.fixture(scope="module")
def platform() -> Platform:
    return next(iter(read_platforms()))


@pytest.fixture(scope="module")
def catalogue() -> list[dict[str, Any]]:
    return read_catalogue(CATALOGUE)


@pytest.fixture(scope="module")
def rows(catalogue: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every eighth row: enough of each kind."""
    return catalogue[::8]


@pytest.fixture(scope="module")
def lines(rows: list[dict[str, Any]], platform: Platform) -> list[bytes]:
    return b"".join(Sampler(rows, platform, 1).batches(COUNT)).splitlines()


@pytest.fixture(scope="module")
def listings(lines: list[bytes]) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in lines]


def test_every_listing_is_a_valid_item(lines: list[bytes], platform: Platform) -> None:
    assert len(lines) == COUNT
    for line in lines:
        index_document(checked_item(line), platform)


def test_ids_count_up(listings: list[dict[str, Any]]) -> None:
    assert [listing["id"] for listing in listings] == list(range(FIRST_ID, FIRST_ID + COUNT))


def test_every_row_is_listed(listings: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    def key(name: str, phase: str | None, image: str | None) -> tuple[str, str | None, str | None]:
        return name, phase, image

    walked = Counter(
        key(listing["name"], listing["details"]["phase"], listing["image"]) for listing in listings[: len(rows)]
    )
    assert walked == Counter(key(row["name"], row["phase"], row["image"]) for row in rows)


def test_floats_keep_to_the_exterior_and_to_the_finish(
    listings: list[dict[str, Any]], rows: list[dict[str, Any]], platform: Platform
) -> None:
    bands = {band.name: band for band in platform.exterior}
    limits = {row["name"]: (row["minFloat"] or 0.0, row["maxFloat"] or 1.0) for row in rows}
    worn = [listing for listing in listings if listing["paint"]["float"] is not None]
    for listing in worn:
        band, (least, most) = bands[listing["details"]["exterior"]], limits[listing["name"]]
        assert max(band.low, least) <= listing["paint"]["float"] <= min(band.high, most), listing
        assert listing["paint"]["float"] < band.high or band.high == 1
    assert len(worn) > COUNT / 3
    assert all(listing["details"]["exterior"] not in bands for listing in listings if listing["paint"]["float"] is None)


def test_paint_is_what_the_row_has(listings: list[dict[str, Any]]) -> None:
    for listing in listings:
        paint, details = listing["paint"], listing["details"]
        assert (paint["seed"] is None) == (paint["index"] is None)
        assert (paint["pattern"] is not None) == (details["type"] == "Charm")
        assert paint["seed"] is None or 0 <= paint["seed"] <= 1000
        assert (listing["inspectLink"] is None) == (details["weapon"] is None)


def test_stickers_are_real_and_on_weapons_only(listings: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    real = {(row["name"], row.get("defIndex"), row["image"]) for row in rows if row["type"] in ("Sticker", "Charm")}
    counts: Counter[int] = Counter()
    wears = []
    for listing in listings:
        if listing["attachments"]:
            assert listing["details"]["weapon"] is not None
            assert listing["details"]["type"] not in ("Knife", "Gloves")
        for applied in listing["attachments"]:
            assert (applied["name"], applied["id"], applied["image"]) in real
        stickers = [applied for applied in listing["attachments"] if applied["type"] == "sticker"]
        counts[len(stickers)] += 1
        wears += [applied["wear"] for applied in stickers]
    assert set(counts) == {0, 1, 2, 3, 4, 5}
    assert any(listing["attachments"][-1:] and listing["attachments"][-1]["type"] == "charm" for listing in listings)
    assert all(0 <= wear <= 1 for wear in wears)
    assert 0.5 < wears.count(0) / len(wears) < 0.9


def test_prices_are_around_the_row_s(listings: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    prices: dict[str, float | None] = {row["name"]: row["price"] for row in rows}
    for listing in listings:
        price = prices[listing["name"]]
        assert (listing["price"] is None) == (price is None)
        if price is not None:
            assert listing["price"] >= min(0.03, price) - 0.01
            assert listing["price"] >= price * 0.94 - 0.01


def test_less_worn_is_more_expensive(catalogue: list[dict[str, Any]], platform: Platform) -> None:
    row = next(row for row in catalogue if row["name"] == "AK-47 | Redline (Field-Tested)")
    text = b"".join(Sampler([row], platform, 1).batches(2000))
    prices_by_float = sorted(
        (orjson.loads(line)["paint"]["float"], orjson.loads(line)["price"]) for line in text.splitlines()
    )
    least, most = prices_by_float[:300], prices_by_float[-300:]
    assert sum(price for _, price in least) > 1.05 * sum(price for _, price in most)


def test_the_same_seed_gives_the_same_bytes(lines: list[bytes], rows: list[dict[str, Any]], platform: Platform) -> None:
    again = b"".join(Sampler(rows, platform, 1).batches(3000)).splitlines()
    other = b"".join(Sampler(rows, platform, 2).batches(3000)).splitlines()
    assert again == lines[:3000]
    assert other != again


def test_the_bytes_are_those_of_any_machine(catalogue: list[dict[str, Any]], platform: Platform) -> None:
    few = catalogue[:: len(catalogue) // 40]
    digest = hashlib.sha256(b"".join(Sampler(few, platform, 7).batches(500))).hexdigest()
    assert digest == "7ae57c4e0d84f36a1ac9658b6a7892bc18167902cf9e98c10884811a24970454"


def test_listings_are_made_as_they_are_asked_for(rows: list[dict[str, Any]], platform: Platform) -> None:
    first = next(Sampler(rows, platform, 1).batches(10_000_000_000))
    assert len(first) < 2_000_000


def test_none_are_none(rows: list[dict[str, Any]], platform: Platform) -> None:
    assert list(Sampler(rows, platform, 1).batches(0)) == []


@pytest.mark.parametrize(("ending", "unpack"), [("", bytes), (".gz", gzip.decompress), (".zst", zstandard.decompress)])
def test_files_are_compressed_by_their_name_and_never_half_there(
    ending: str, unpack: Any, rows: list[dict[str, Any]], platform: Platform, tmp_path: Path
) -> None:
    first, second = tmp_path / f"a.ndjson{ending}", tmp_path / f"b.ndjson{ending}"
    size = write_pieces(Sampler(rows[:10], platform, 1).batches(100), first)
    write_pieces(Sampler(rows[:10], platform, 1).batches(100), second)
    assert first.read_bytes() == second.read_bytes()
    if ending == ".zst":
        text = zstandard.ZstdDecompressor().decompressobj().decompress(first.read_bytes())
    else:
        text = unpack(first.read_bytes())
    assert len(text) == size
    assert len(text.splitlines()) == 100

    def broken() -> Any:
        yield b"x" * 100
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pieces(broken(), tmp_path / f"c{ending}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([first.name, second.name])


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        write_pieces(islice([b"x"], 1), tmp_path / "absent" / "a.ndjson")


@pytest.mark.parametrize("text", ['{"name": "x"}\n', "[1]\n", "nonsense\n", "{broken\n"])
def test_a_file_that_is_no_catalogue_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "catalogue.ndjson"
    path.write_text(text)
    with pytest.raises(CommandError, match="no catalogue row"):
        read_catalogue(path)


def test_an_empty_catalogue_is_named(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.ndjson"
    path.write_text("")
    with pytest.raises(CommandError, match="no rows"):
        read_catalogue(path)
