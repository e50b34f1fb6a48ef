"""The engine's means, for real: variants of one index are made, merged and asked, and find the same."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import means
from bench.means import AS_IT_IS, Asking, questions_of
from bench.questions import distinct, recorded
from bench.runs import load as loading
from bench.runs.load import Place

ITEMS, ROUNDS, BODIES = 3000, 1, 2
NAMES = (AS_IT_IS, "2 shards", "1 segment", "no query cache")


@pytest.fixture
def place(opensearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """The engine and a file of listings; what is made in it is removed."""
    prefix = f"t{secrets.token_hex(5)}"
    monkeypatch.setattr(means, "prefix_of", lambda items: f"{prefix}-{items}")
    found = loading.place(ITEMS, opensearch_url, tmp_path)
    yield found
    found.client.indices.delete(index=f"{prefix}-*")


def test_variants_are_made_as_they_are_named_and_find_the_same(place: Place, tmp_path: Path) -> None:
    for name in NAMES:
        if means.VARIANTS[name].of is None:
            means.fill(place, ITEMS, name)
        else:
            means.copy(place.client, ITEMS, name)
    means.serve(place.client, ITEMS, AS_IT_IS)
    count = (ROUNDS + means.WARM_UP_ROUNDS) * BODIES
    prefix = means.prefix_of(ITEMS)
    requests = {one: recorded(place.url, prefix, tmp_path, distinct(one, count)) for one in means.WORKLOADS}
    asking = Asking(place, ITEMS, NAMES, questions_of(requests))
    asking.run(ROUNDS)  # raises where two variants differ
    told = {one["variant"]: one for one in means.measured(place, ITEMS, asking)}
    assert list(told) == list(NAMES)
    assert all(set(one["asked"]) == set(means.QUESTIONS) for one in told.values())
    assert len(told[AS_IT_IS]["fills"]) == 1
    assert told["1 segment"]["segments"] == 1
    assert set(told["1 segment"]["merge"]) == {"seconds", "engine_seconds"}
    held = place.client.indices.get_settings(index=means.index_of(ITEMS, "no query cache"))
    ((_, about),) = held.items()
    assert about["settings"]["index"]["queries"]["cache"]["enabled"] == "false"
    assert place.client.count(index=means.index_of(ITEMS, "2 shards"))["_shards"]["total"] == 2
