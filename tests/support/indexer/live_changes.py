"""Live changes by the command line, and what serves after them."""

from typing import Any

from tests.support.indexer.fixtures import Place, lines


def upsert(place: Place, changed: list[dict[str, Any]], *options: str, code: int = 0) -> dict[str, Any]:
    """The report of an upsert of these items."""
    return place.json("upsert", "-", "--platform", "730", "--quiet", *options, stdin=lines(changed), code=code)


def delete(place: Place, *what: str, stdin: str = "", code: int = 0) -> dict[str, Any]:
    """The report of a delete."""
    return place.json("delete", "--platform", "730", "--quiet", *what, stdin=stdin, code=code)


def names(place: Place) -> dict[int, str]:
    """What serves, by id."""
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 1000})["hits"]["hits"]
    return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}


def changed_item(number: int, name: str) -> dict[str, Any]:
    """An item with another name."""
    return {"id": number, "name": name}
