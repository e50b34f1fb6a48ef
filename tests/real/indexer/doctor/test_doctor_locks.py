"""The doctor and the lock: what a dead owner holds or leaves is put right, what a living one has is not touched."""

from dataclasses import replace

from indexer.locking.owner import this_process
from mappings.definition import read_definition
from tests.support.indexer.examined import codes, findings, repaired, snapshot
from tests.support.indexer.fixtures import Place
from tests.support.indexer.generation import create_generation
from tests.support.indexer.holders import ELSEWHERE, beating, record, records


def _unfinished(place: Place, owner: str) -> str:
    """What a load under this owner's lock is filling."""
    definition = read_definition()
    index = f"{place.alias}-20200101000000000-{definition.fingerprint}"
    create_generation(place.client, index, f"{index}-loading", definition=definition, owner=owner)
    return index


def test_a_lock_of_a_dead_process_is_found_and_given_back(loaded: Place) -> None:
    healthy = snapshot(loaded)
    records(loaded).create(record(owner=this_process()))
    (finding,) = findings(loaded)
    assert (finding["code"], finding["severity"]) == ("stale-lock", "warning")
    assert "which has crashed" in finding["message"]
    repaired(loaded, "stale-lock", wanted=healthy)
    assert records(loaded).read() is None


def test_a_lock_that_was_not_heard_of_for_long_is_watched_before_it_is_taken(loaded: Place) -> None:
    long_ago = replace(record(expiry=0.5), heartbeat="2020-01-01T00:00:00Z")
    records(loaded).create(long_ago)
    (finding,) = findings(loaded)
    assert "seems to have crashed" in finding["message"]
    assert codes(findings(loaded, "--fix", code=0)) == ["stale-lock"]
    assert records(loaded).read() is None


def test_what_a_living_load_has_is_left_alone(loaded: Place) -> None:
    index = _unfinished(loaded, ELSEWHERE.id)
    with beating(loaded, seconds=0.2, expiry=60):
        assert findings(loaded, "--fix") == []
        failed = findings(loaded, "--older-than", "0", "--fix")
        assert codes(failed) == ["stale-lock", "unfinished-load"], "its clock was not believed"
        assert all(
            "is being changed by gear-indexer load (process 7 on elsewhere)" in finding["message"] for finding in failed
        )
        assert index in snapshot(loaded)


def test_what_a_dead_load_left_is_known_by_its_lock_at_once(loaded: Place) -> None:
    healthy = snapshot(loaded)
    index = _unfinished(loaded, "the dead one")
    loaded.client.index(index=index, id="1", body={"id": 1, "name": "half"})
    (finding,) = findings(loaded)
    assert (finding["code"], finding["subject"]) == ("unfinished-load", index)
    assert "--resume goes on with it" in finding["remedy"]
    repaired(loaded, "unfinished-load", wanted=healthy)


def test_the_record_of_live_deletes_is_no_finding(loaded: Place) -> None:
    loaded.json("delete", "1", "--platform", "730", "--quiet")
    assert findings(loaded) == []
