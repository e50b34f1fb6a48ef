"""status, rollback and prune: what serves, the one before, and no more of what nobody needs."""

from dataclasses import replace

from mappings.definition import read_definition
from mappings.names import products_of
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation


def _unfinished(place: Place) -> str:
    """What nobody fills, as somebody made it by hand: no load has written who fills it."""
    index = f"{place.alias}-20200101000000000-00000000"
    place.client.indices.create(index=index, body={"aliases": {f"{index}-loading": {}}})
    return index


def test_status_climbs_from_missing_over_differs_to_equal(place: Place) -> None:
    assert place.json("status", "--platform", "730")["definition"] == "missing"
    assert "nothing is loaded" in place.run("status").stdout
    old = f"{place.alias}-20200101000000000-00000000"
    place.client.indices.create(index=old, body={"aliases": {place.alias: {}}})
    state = place.json("status", "--platform", "cs2")
    assert (state["definition"], state["serving"], state["items"]) == ("differs", old, 0)
    assert "load again" in place.run("status").stdout
    index = place.load(items(3))["index"]
    state = place.json("status", "--platform", "730")
    assert (state["definition"], state["serving"], state["items"]) == ("equal", index, 3)
    assert state["settings"]["refresh_interval"] == "1s"
    assert [(generation["index"], generation["state"], generation["items"]) for generation in state["generations"]] == [
        (index, "serving", 3),
        (old, "kept", 0),
    ]
    assert state["generations"][0]["bytes"] > 0
    assert [platform["platform"] for platform in place.json("status")["platforms"]] == [730]
    assert f"3 items in {index}" in place.run("status").stdout


def test_status_shows_and_prune_removes_what_dead_loads_left(place: Place) -> None:
    index = place.load(items(1))["index"]
    unfinished = _unfinished(place)
    states = {
        generation["index"]: generation["state"]
        for generation in place.json("status", "--platform", "730")["generations"]
    }
    assert states == {index: "serving", unfinished: "unfinished"}
    assert "prune removes it" in place.run("status").stdout
    response = place.json("prune", "--platform", "730")
    assert (response["removed"], response["kept"]) == ([unfinished], [index])
    assert place.indices() == [index]
    assert _unfinished(place) in place.indices()
    next_index = place.load(items(1))["index"]
    assert place.indices() == [index, next_index], "a load removes it too"


def test_status_shows_a_closed_generation_beside_the_others(place: Place) -> None:
    closed = place.load(items(1))["index"]
    serving = place.load(items(2))["index"]
    place.client.indices.close(index=closed)
    state = place.json("status", "--platform", "730")
    assert [(each["index"], each["items"]) for each in state["generations"]] == [(serving, 2), (closed, None)]
    assert f"{closed}  kept  ? items, ? MB" in place.run("status").stdout
    place.client.indices.close(index=serving)
    assert place.json("status", "--platform", "730")["items"] is None


def test_rollback_serves_the_previous_generation_and_back(place: Place) -> None:
    first = place.load(items(2))["index"]
    second = place.load(items(2, first=10))["index"]
    response = place.json("rollback", "--platform", "730")
    assert (response["index"], response["previous"], response["items"]) == (first, second, 2)
    assert place.served() == [1, 2]
    response = place.json("rollback", "--platform", "730", "--to", second)
    assert response["index"] == second
    assert place.served() == [10, 11]


def test_a_rollback_names_the_way_forward_again(place: Place) -> None:
    """Until the last step back and after it: what is offered works as it stands there."""
    first, second, third = (place.load(items(1, first=number), "--keep", "9")["index"] for number in (1, 2, 3))
    message = place.run("rollback", "--platform", "730").stderr
    assert message.splitlines()[-1].endswith(f"; to take it back: gear-indexer rollback --platform 730 --to {third}")
    place.json("rollback", "--platform", "730")
    error = place.json("rollback", "--platform", "730", code=1)["error"]
    assert error == (
        f"there is no finished generation before {first}; "
        f"to go forward again name the later one: --to {third} or --to {second}"
    )
    place.json("rollback", "--platform", "730", *error.partition("one: ")[2].split()[:2])
    assert place.served() == [3]


def test_a_load_after_a_rollback_keeps_the_one_that_served(place: Place) -> None:
    good, bad = (place.load(items(1, first=number))["index"] for number in (1, 2))
    place.json("rollback", "--platform", "730")
    newest = place.load(items(1, first=3))
    assert (newest["previous"], newest["removed"]) == (good, [bad])


def test_rollback_never_serves_what_was_not_finished(place: Place) -> None:
    assert "nothing serves" in place.json("rollback", "--platform", "730", code=1)["error"]
    index = place.load(items(1))["index"]
    unfinished = _unfinished(place)
    error = place.json("rollback", "--platform", "730", code=1)["error"]
    assert error.endswith(f"no finished generation before {index}; load the earlier catalogue again")
    for target, reason in ((unfinished, "never filled"), (index, "serves already"), ("nope", "no generation nope")):
        response = place.json("rollback", "--platform", "730", "--to", target, code=1)
        assert reason in response["error"]
        assert response["swapped"] is False
    assert place.served() == [1]


def test_rollback_to_another_definition_must_be_meant(place: Place) -> None:
    other = f"{place.alias}-20200101000000000-00000000"
    create_generation(place.client, other, definition=replace(read_definition(), fingerprint="00000000"))
    place.load(items(1))
    assert f"--to {other}" in place.json("rollback", "--platform", "730", code=1)["error"]
    result = place.run("rollback", "--platform", "730", "--to", other)
    assert result.exit_code == 0
    assert "another definition" in result.stderr


def test_prune_never_removes_what_serves(place: Place) -> None:
    first, second, third = (place.load(items(1, first=number), "--keep", "9")["index"] for number in (1, 2, 3))
    place.json("rollback", "--platform", "730", "--to", first)
    response = place.json("prune", "--platform", "730", "--keep", "2")
    assert (response["kept"], response["removed"]) == ([first, third], [second])
    names = {each for index in (first, third) for each in (index, products_of(index))}
    assert set(place.client.indices.get(index=f"{place.alias}-2*")) == names, "no products of the one that went"
    assert place.json("prune", "--platform", "730", "--keep", "1")["kept"] == [first]
    assert set(place.client.indices.get(index=f"{place.alias}-2*")) == {first, products_of(first)}
    assert place.served() == [1]
