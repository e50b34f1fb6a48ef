"""One at a time, also while a load is held half-way."""

from dataclasses import replace

from indexer.engine.hidden_index import now_text
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.holders import MANY, records, source_of
from tests.support.indexer.loaders import loader_half_way
from tests.support.indexer.wire import Wire


def test_a_second_command_says_who_is_at_work_since_when(place: Place, wire: Wire) -> None:
    place = replace(place, chunk_items=20)  # many requests for few items
    place.load(items(2))
    old = place.load(items(2))["index"]
    with loader_half_way(place, wire) as (process, end):
        wire.rule = lambda method, path, body: None
        for verb, *options in (["load", "source.ndjson"], ["prune", "--keep", "1"], ["rollback"]):
            source_of(place, 3)
            error = place.json(verb, *options, "--platform", "730", code=1)["error"]
            assert f"is being changed by gear-indexer load (process {process.pid} on " in error
            assert f"since {now_text()[:11]}" in error
        state = place.json("status", "--platform", "730")
        assert (state["lock"]["command"], state["lock"]["pid"], state["lock"]["alive"]) == ("load", process.pid, True)
        assert [generation["state"] for generation in state["generations"]] == ["loading", "serving", "kept"]
        shown = place.run("status").stdout
        assert f"locked by gear-indexer load, process {process.pid} on " in shown
        assert "it runs" in shown
        assert place.json("upsert", "-", "--platform", "730", stdin=lines(items(1)))["written"] == 1
        end.set()
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert place.served() == [1, *range(1000, 1000 + MANY)]
    assert old in place.indices()
    assert records(place).read() is None
