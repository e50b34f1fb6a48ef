"""A loaded platform with orders that the doctor examines: its findings, and everything that it may change."""

from collections.abc import Iterator
from typing import Any

import orjson

from tests.support.indexer.fixtures import Place

# Of the whole engine, which other tests use at the same time.
OF_THE_ENGINE = {"engine-version"}


def findings(place: Place, *options: str, code: int | None = None) -> list[dict[str, Any]]:
    """What the doctor says about this place; its exit code is checked against what it says."""
    result = place.run("doctor", "--platform", "730", "--json", *options)
    assert result.stdout, f"{result.output}{result.exception!r}"
    response: dict[str, Any] = orjson.loads(result.stdout)
    left = [each for each in response["findings"] if each["severity"] == "error" and not each["fixed"]]
    assert (result.exit_code, response["errors"]) == (int(bool(left)), len(left)), result.output
    assert code is None or result.exit_code == code, result.output
    return [each for each in response["findings"] if each["code"] not in OF_THE_ENGINE]


def codes(listed: list[dict[str, Any]]) -> list[str]:
    """The codes of findings."""
    return [each["code"] for each in listed]


def snapshot(place: Place) -> dict[str, Any]:
    """Every index with its aliases, settings, mapping and documents."""
    indices: dict[str, Any] = place.client.indices.get(
        index=f"{place.alias}*", params={"flat_settings": "true", "allow_no_indices": "true"}
    )
    for name, body in indices.items():
        body["documents"] = documents(place, name)
    return indices


def documents(place: Place, index: str) -> dict[str, Any]:
    """Every document of an index by its id; ten at most, so that it works with any page window."""
    place.client.indices.refresh(index=index)
    hits = place.client.search(index=index, body={"size": 10, "query": {"match_all": {}}})["hits"]
    assert hits["total"]["value"] <= 10
    return {hit["_id"]: hit["_source"] for hit in hits["hits"]}


def repaired(place: Place, *expected: str, wanted: dict[str, Any]) -> None:
    """The doctor finds exactly these faults, repairs them, then finds nothing, and the place is as `wanted`."""
    before = snapshot(place)
    assert sorted(codes(findings(place))) == sorted(expected)
    assert snapshot(place) == before, "looking changes nothing"
    fixed = findings(place, "--fix", code=0)
    assert sorted(codes(fixed)) == sorted(expected)
    assert all(each["fixed"] for each in fixed)
    assert findings(place) == []
    assert snapshot(place) == wanted


def stays(place: Place, fault: str, says: str) -> dict[str, Any]:
    """The doctor finds this one fault, says so with a remedy, and leaves everything as it is also with --fix."""
    before = snapshot(place)
    (finding,) = findings(place, "--fix")
    assert finding["code"] == fault
    assert says in finding["message"]
    assert finding["remedy"]
    assert finding["fixed"] is False
    assert snapshot(place) == before
    return finding


def bound_in(place: Place, index: str) -> list[int]:
    """The ids of the items that an index has as bound."""
    place.client.indices.refresh(index=index)
    hits = place.client.search(index=index, body={"query": {"term": {"bound": True}}, "sort": ["id"], "size": 1000})
    return [int(hit["_id"]) for hit in hits["hits"]["hits"]]


def mark_items(place: Place, *numbers: int, bound: bool) -> None:
    """Has what serves bind these items, or release them."""
    for number in numbers:
        place.client.update(index=place.alias, id=str(number), body={"doc": {"bound": bound}})
    place.client.indices.refresh(index=place.alias)


def with_settings(place: Place, settings: dict[str, str]) -> Iterator[None]:
    """The cluster has these settings, whatever the engine of this run was started with."""
    place.client.cluster.put_settings(body={"transient": settings})
    yield
    place.client.cluster.put_settings(body={"transient": dict.fromkeys(settings)})


def names(place: Place) -> dict[int, str]:
    """The name of each item that serves."""
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 10_000})["hits"]["hits"]
    return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}
