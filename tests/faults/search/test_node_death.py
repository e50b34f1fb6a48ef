"""A node of a cluster dies under searches: its service goes on, and no list is short or of something else."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.peers import services
from bench.peers.data import Data
from bench.workloads.bodies import bodies_of, workloads
from mappings.connection import SearchSettings, connect
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index
from tests.support.faults.cluster import Cluster, wait_for_health
from tests.support.traffic import SEARCH, client_of, found_in, sending, wrong_responses

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

ITEMS = 3000
SECONDS = 5.0  # for what was on its way to the dead node when the others had noticed
CLUSTER = Cluster("gear-test", 9471, 3)
PREFIX = "node-death"
INDICES = f"{PREFIX}-730-*"  # listings and products
(CS2,) = read_platforms()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of three nodes, and listings in three index parts of two copies each."""
    with CLUSTER.running():
        data = Data(ITEMS, CLUSTER.address(1), tmp_path_factory.mktemp("nodes"))
        data.sample()
        settings = SearchSettings(_env_file=None, opensearch_url=CLUSTER.address(1), index_prefix=PREFIX)
        put_index(settings, CS2, data.items(), shards=3)
        client = connect(settings, timeout=600)
        copies = {"index": {"auto_expand_replicas": "false", "number_of_replicas": 1}}
        client.indices.put_settings(index=INDICES, body=copies)
        client.cluster.health(index=INDICES, params={"wait_for_status": "green"}, request_timeout=120)
        yield ",".join(CLUSTER.addresses)


@pytest.mark.parametrize("victim", ["other", "manager"])
def test_the_death_of_a_node_makes_no_list_short(addresses: str, tmp_path: Path, victim: str) -> None:
    number = CLUSTER.victim(manager=victim == "manager")
    survivor = next(CLUSTER.address(other) for other in CLUSTER.numbers if other != number)
    settings = {"GEAR_SEARCH_TIMEOUT": "2.5"}  # the default
    with services.gear_api(addresses, PREFIX, tmp_path, settings=settings) as service:
        client = partial(client_of, service.address, service.headers)
        with sending(client, SEARCH, bodies_of(workloads()["cold"], seed=1), found_in) as responses:
            wait_for_health(survivor, lambda _: len(responses) > 100)
            CLUSTER.kill(number)
            noticed = wait_for_health(survivor, lambda health: health.get("number_of_nodes") == 2)
            wait_for_health(
                survivor, lambda _: sum(response.requested > noticed + SECONDS for response in responses) > 100
            )
    CLUSTER.revive(number)
    wait_for_health(
        survivor, lambda health: health.get("number_of_nodes") == 3 and health.get("status") == "green", index=INDICES
    )
    with services.gear_api(addresses, PREFIX, tmp_path) as service:
        assert not wrong_responses(responses[-1000:], service.address, service.headers)
    assert {response.status for response in responses} <= {200, 503}
    late = [response.status for response in responses if response.requested > noticed + SECONDS]
    assert late == [200] * len(late), "it goes on with the others"
