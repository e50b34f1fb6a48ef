"""The doctor and what is wrong around the index: the engine, its settings, its disks, the database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.indexer.examined import codes, findings, stays, with_settings
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.shop import Shop


@pytest.fixture
def indices_by_themselves(place: Place) -> Iterator[None]:
    """A write makes the index that it names, which is the engine's own default."""
    yield from with_settings(place, {"action.auto_create_index": "true"})


@pytest.fixture
def template(place: Place) -> Iterator[str]:
    """An index template that catches the names of this test alone."""
    name = f"{place.alias}-template"
    body = {"index_patterns": [f"{place.alias}-2*"], "template": {"settings": {"index.max_terms_count": 5}}}
    place.client.indices.put_index_template(name=name, body=body)
    yield name
    place.client.indices.delete_index_template(name=name)


@pytest.fixture
def short_watermarks(place: Place) -> Iterator[None]:
    """Sizes as the engine takes them, too."""
    watermark = "cluster.routing.allocation.disk.watermark."
    sizes = {"low": "3m", "high": "2m", "flood_stage": "1m"}
    yield from with_settings(place, {f"{watermark}{name}": size for name, size in sizes.items()})


@pytest.mark.usefixtures("indices_by_themselves")
def test_a_stray_write_could_take_the_name_before_the_first_load(place: Place) -> None:
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    finding = stays(place, "auto-create", place.alias)
    assert finding["severity"] == "warning"
    assert f"-{place.alias}*,+*" in finding["remedy"]


def test_a_template_that_catches_our_names_is_reported(loaded: Place, template: str) -> None:
    finding = stays(loaded, "template", template)
    assert f"_index_template/{template}" in finding["remedy"]


def test_an_engine_that_is_away_is_a_finding(
    loaded: Place, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", f"http://127.0.0.1:{unused_tcp_port}")
    (finding,) = findings(loaded, "--fix", code=1)
    assert finding["code"] == "engine-unreachable"
    assert "GEAR_OPENSEARCH_URL" in finding["message"]


def test_a_database_that_is_none_is_a_finding(loaded: Place) -> None:
    Path("orders.db").write_bytes(b"this is no database" * 100)
    for left in Path().glob("orders.db-*"):
        left.unlink()
    finding = stays(loaded, "database-unreachable", "not an SQLite database")
    assert finding["severity"] == "error"
    assert findings(loaded, "--without-orders", code=0) == []


def test_a_database_without_tables_is_a_finding_and_no_file_is_made(place: Place) -> None:
    place.put(items(1))
    finding = stays(place, "database-unmigrated", "gear-api migrate")
    assert finding["remedy"] == "gear-api migrate"
    assert not Path("orders.db").exists()
    Path("orders.db").touch()
    assert codes(findings(place, code=1)) == ["database-unmigrated"]


@pytest.mark.usefixtures("short_watermarks")
def test_watermarks_in_short_units_are_read(loaded: Place) -> None:
    assert findings(loaded, code=0) == []
