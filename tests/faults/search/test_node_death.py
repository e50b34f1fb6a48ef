"""A node of a cluster dies under searches: its service goes on, and no list is short or of something else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import means
from bench.deaths import Load, chosen, until, wrong
from bench.nodes import Cluster
from bench.peers import services
from bench.questions import distinct
from bench.runs import load as loading
from bench.runs.load import Place

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

ITEMS = 3000
SECONDS = 5.0  # for what was on its way to the dead node when the others had noticed
NAME = "3 shards, 2 copies"
CLUSTER = Cluster("gear-test", 9471, 3)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A cluster of three nodes, and listings in three index parts of two copies each."""
    with CLUSTER.running():
        found = loading.place(ITEMS, ",".join(CLUSTER.addresses), tmp_path_factory.mktemp("nodes"))
        means.fill(found, ITEMS, "3 shards")
        means.copy(found.client, ITEMS, NAME)
        means.serve(found.client, ITEMS, NAME)
        yield found


@pytest.mark.parametrize("victim", ["other", "manager"])
def test_the_death_of_a_node_makes_no_list_short(place: Place, tmp_path: Path, victim: str) -> None:
    number = chosen(CLUSTER, victim)
    survivor = next(CLUSTER.address(one) for one in CLUSTER.numbers if one != number)
    prefix, index = means.prefix_of(ITEMS), means.index_of(ITEMS, NAME)
    with services.gear_api(place.url, prefix, tmp_path, more={"GEAR_SEARCH_TIMEOUT": "2.5"}) as service:
        load = Load(service, distinct("cold", 20_000))
        with load.running():
            until(survivor, index, lambda _: len(load.answers) > 100)
            CLUSTER.kill(number)
            noticed = until(survivor, index, lambda state: state.get("number_of_nodes") == 2)
            until(survivor, index, lambda _: sum(one.asked > noticed for one in load.answers) > 100)
    CLUSTER.revive(number)
    until(survivor, index, lambda state: state.get("number_of_nodes") == 3 and state.get("status") == "green")
    with services.gear_api(place.url, prefix, tmp_path) as service:
        assert not wrong(load.answers[-1000:], service)
    assert {one.status for one in load.answers} <= {200, 503}
    assert all(one.status == 200 for one in load.answers if one.asked > noticed + SECONDS), "it goes on with the others"
