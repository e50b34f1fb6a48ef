"""The doctor on a real engine: each fault is made, found, repaired where that is safe, and nothing else touched."""

from typing import Any

import pytest

from mappings.definition import read_definition
from mappings.names import products_of
from tests.support.indexer.examined import codes, findings, repaired, snapshot, stays
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation
from tests.support.indexer.shop import Shop

OLD = "20200101000000000"
ALONE = {"settings": {"number_of_replicas": 0}}


def _put(place: Place, **settings: Any) -> None:
    values = {name.replace("__", "."): value for name, value in settings.items()}
    place.client.indices.put_settings(index=place.alias, body={"index": values})


def _generation(place: Place) -> str:
    """An old generation, made as loads make them."""
    index = f"{place.alias}-{OLD}-{read_definition().fingerprint}"
    create_generation(place.client, index)
    return index


def test_a_sound_index_has_no_findings(loaded: Place) -> None:
    loaded.load(items(3))
    before = snapshot(loaded)
    assert findings(loaded, "--fix", code=0) == []
    assert snapshot(loaded) == before


def test_people_read_a_sentence_and_a_command(loaded: Place) -> None:
    _put(loaded, refresh_interval="-1")
    result = loaded.run("doctor", "--platform", "cs2")
    assert result.exit_code == 1
    assert "error  refresh: " in result.stdout
    assert "do: gear-indexer doctor --platform 730 --fix" in result.stdout
    assert "1 errors" in result.stdout
    assert "repaired  refresh: " in loaded.run("doctor", "--fix").stdout


@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        ("refresh", {"refresh_interval": "-1"}),
        ("refresh", {"refresh_interval": "30s"}),
        ("replicas", {"auto_expand_replicas": "false"}),
        ("result-window", {"max_result_window": 500}),
        ("result-window", {"max_result_window": 20_000}),
        ("blocked", {"blocks__read_only": True}),
        ("blocked", {"blocks__write": True, "blocks__read": True}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_of_the_serving_index_are_put_right(loaded: Place, fault: str, settings: dict[str, Any]) -> None:
    healthy = snapshot(loaded)
    _put(loaded, **settings)
    blocked = "blocks__read" in settings
    if not blocked:
        repaired(loaded, fault, wanted=healthy)
        return
    assert codes(findings(loaded, "--without-orders")) == [fault]
    assert codes(findings(loaded, "--fix", "--without-orders", code=0)) == [fault]
    assert snapshot(loaded) == healthy


def test_several_faults_at_once_are_all_put_right(loaded: Place) -> None:
    healthy = snapshot(loaded)
    _put(loaded, refresh_interval="-1", max_result_window=10, auto_expand_replicas="false")
    _put(loaded, blocks__read_only=True)
    repaired(loaded, "blocked", "refresh", "replicas", "result-window", wanted=healthy)


def test_a_copy_that_is_possible_nowhere_is_taken_back(loaded: Place) -> None:
    healthy = snapshot(loaded)
    _put(loaded, auto_expand_replicas="false", number_of_replicas=1)
    (finding,) = findings(loaded, code=0)
    assert (finding["code"], finding["severity"]) == ("replicas", "warning")
    findings(loaded, "--fix", code=0)
    assert findings(loaded) == []
    assert snapshot(loaded) == healthy


def test_an_empty_index_in_the_place_of_the_alias_is_removed(place: Place) -> None:
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    generation = _generation(place)
    wanted = snapshot(place)
    place.client.indices.create(index=place.alias, body=ALONE)
    wanted[generation]["aliases"] = {place.alias: {}}
    wanted[products_of(generation)]["aliases"] = {products_of(place.alias): {}}
    assert codes(findings(place, code=1)) == ["alias-is-index"]
    fixed = findings(place, "--fix", code=0)
    assert codes(fixed) == ["alias-is-index", "alias-missing"], "what it hid is found and repaired, too"
    assert snapshot(place) == wanted


def test_an_index_in_the_place_of_the_alias_with_documents_is_left_to_people(place: Place) -> None:
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    place.client.indices.create(index=place.alias, body=ALONE)
    place.client.index(index=place.alias, id="1", body={"name": "stray"}, params={"refresh": "true"})
    finding = stays(place, "alias-is-index", "1 documents")
    assert "-X DELETE" in finding["remedy"]


def test_an_alias_on_two_generations_serves_the_newest_alone(loaded: Place) -> None:
    old = _generation(loaded)
    healthy = snapshot(loaded)
    loaded.client.indices.put_alias(index=old, name=loaded.alias)
    (finding,) = findings(loaded, code=1)
    assert "this version's definition" in finding["message"]
    error = loaded.json("status", "--platform", "730", code=1)["error"]
    assert "`gear-indexer doctor --fix` makes the newest serve alone" in error
    repaired(loaded, "alias-several", wanted=healthy)


def test_generations_without_an_alias_serve_again(loaded: Place) -> None:
    old = _generation(loaded)
    healthy = snapshot(loaded)
    serving, _ = sorted(set(healthy) - {old, products_of(old)})
    loaded.client.indices.delete_alias(index=serving, name=loaded.alias)
    missing = [finding for finding in findings(loaded, code=1) if finding["code"] == "alias-missing"]
    assert serving in missing[0]["remedy"]
    assert codes(findings(loaded, "--fix", code=0)) == ["alias-missing"]
    assert snapshot(loaded) == healthy


def test_an_alias_on_a_foreign_index_is_reported(loaded: Place) -> None:
    foreign = f"{loaded.alias}-stranger"
    loaded.client.indices.create(index=foreign, body={**ALONE, "aliases": {loaded.alias: {}}})
    finding = stays(loaded, "alias-foreign", foreign)
    assert f"{foreign}/_alias/{loaded.alias}" in finding["remedy"]


def test_a_mapping_that_drifted_is_reported_field_by_field(loaded: Place) -> None:
    loaded.client.indices.put_mapping(index=loaded.alias, body={"properties": {"stray": {"type": "long"}}})
    finding = stays(loaded, "mapping-drift", "fields unexpected stray")
    assert finding["severity"] == "error"
    assert finding["remedy"].startswith("gear-indexer load")
    loaded.load(items(3))
    assert findings(loaded) == []


def test_an_index_of_another_definition_is_reported(place: Place) -> None:
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    body = read_definition().create_body()
    for name in ("product", "seed"):
        del body["mappings"]["properties"][name]
    body["mappings"]["properties"]["float"] = {"type": "keyword"}
    body["mappings"]["_meta"] = {"fingerprint": "00000000"}
    body["settings"] = {**body["settings"], "index": {**body["settings"]["index"], "number_of_shards": 2}}
    index = f"{place.alias}-{OLD}-00000000"
    place.client.indices.create(index=index, body={**body, "aliases": {place.alias: {}}})
    messages = {finding["code"]: finding["message"] for finding in findings(place, "--fix", code=1)}
    assert set(messages) == {"settings", "mapping-drift", "products-missing"}
    assert "number_of_shards 2 instead of 1" in messages["settings"]
    for part in ("definition 00000000", "missing product, seed", "changed float (type keyword instead of double)"):
        assert part in messages["mapping-drift"]


def test_spare_generations_are_reported_with_their_size(loaded: Place) -> None:
    loaded.load(items(2), "--keep", "9")
    loaded.load(items(2), "--keep", "9")
    finding = stays(loaded, "too-many-generations", "3 finished generations")
    assert "B" in finding["message"]
    assert findings(loaded, "--keep", "3") == []
    loaded.json("prune", "--platform", "730", "--keep", "2")
    assert findings(loaded) == []


def test_a_closed_index_is_reported_and_an_old_one_may_be_closed(loaded: Place) -> None:
    (serving,) = loaded.indices()
    generation = _generation(loaded)
    loaded.client.indices.close(index=generation)
    assert findings(loaded, code=0) == []
    loaded.client.indices.close(index=serving)
    (finding,) = findings(loaded, "--fix", code=1)
    assert (finding["code"], finding["subject"], finding["fixed"]) == ("closed", serving, False)
    assert f"{serving}/_open" in finding["remedy"]
    loaded.client.indices.open(index=serving)
    assert findings(loaded, code=0) == []


def test_the_platforms_are_those_of_the_operator(loaded: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """GEAR_PLATFORM_FILES counts here as it does for every command."""
    text = 'id = 17\nslug = "other"\nname = "Other"\ncurrency = "USD"\nminor_digits = 2\n'
    (loaded.folder / "17.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("GEAR_PLATFORM_FILES", str(loaded.folder))
    assert loaded.json("doctor")["platforms"] == [17]
    assert "no known platform" in loaded.json("doctor", "--platform", "730", code=1)["error"]
