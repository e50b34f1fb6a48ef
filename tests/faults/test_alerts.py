"""Alert rules on the metrics of a real service: each fault fires its alerts, and nothing fires without one."""

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from api.settings import Settings
from api.telemetry.metrics import worker_deaths
from indexer.cli.main import main as gear_indexer
from mappings.connection import connect
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.exposition import samples
from tests.support.api.waiting import wait_until
from tests.support.app import serving, settings_for
from tests.support.faults.promtool import RULES, firing, promtool
from tests.support.indexer.fixtures import Place
from tests.support.indexer.follower import FollowerProcess
from tests.support.indices import drop_indices
from tests.support.servers import free_port
from tests.support.services.wire import TcpProxy

DASHBOARD = RULES.parents[1] / "grafana" / "dashboard.json"
WAIT_SECONDS = 60.0
STALLED_SECONDS = 2.0
"""A follower with nothing to do commits five times a second."""
ITEMS = [simple_item(number, float(number)) for number in range(1, 20)]


@dataclass
class Service:
    """A service behind a real server, its two ways to the engine, and what breaks it."""

    client: httpx.Client
    settings: Settings
    wires: tuple[TcpProxy, TcpProxy]
    folder: Path
    next_item: int = 1

    def scrape(self) -> str:
        """The metrics, with those of the last load."""
        text = self.client.get("/metrics").raise_for_status().text
        load = self.folder / "load.prom"
        return text + (load.read_text(encoding="utf-8") if load.exists() else "")

    def until(self, name: str, condition: Callable[[float], bool], **labels: str) -> None:
        """Waits for a sample of the metrics."""

        def holds() -> bool:
            return condition(samples(self.scrape()).get((name, frozenset(labels.items())), float("nan")))

        wait_until(holds, WAIT_SECONDS, f"{name} is not as expected")

    def search(self, number: int) -> httpx.Response:
        """A search that no other has made."""
        return self.client.post("/v1/gear/search", json={"filters": {"price": {"max": 100 + number / 100}}})

    def order(self, item: int | None = None, **more: Any) -> httpx.Response:
        """Orders an item that nobody has ordered."""
        self.next_item += item is None
        body = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": str(item or self.next_item)}
        return self.client.post("/v1/gear", json={**body, **more})

    def engine(self, path: str, body: dict[str, Any]) -> None:
        """Changes something in the engine past the service."""
        client = connect(self.settings)
        client.transport.perform_request("PUT" if path.startswith("_settings") else "POST", self._of(path), body=body)
        client.close()

    def _of(self, path: str) -> str:
        return f"/{self.settings.alias(CS2.id)}/{path}"


@pytest.fixture(scope="module")
def service(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """It works, and has answered a few requests."""
    folder = tmp_path_factory.mktemp("alerts")
    prefix = f"t{datetime.now(UTC):%H%M%S%f}"
    with TcpProxy.before(opensearch_url) as first, TcpProxy.before(opensearch_url) as second:
        settings = settings_for(
            f"{first.url},{second.url}",
            prefix,
            folder,
            search_timeout=6,
            max_concurrency=2,
            deliver_callbacks=False,
            allow_insecure_callbacks=True,
        )
        put_index(settings, CS2, ITEMS)
        try:
            with serving(settings) as client:
                works = Service(client, settings, (first, second), folder)
                for number in range(5):
                    works.search(number).raise_for_status()
                works.order().raise_for_status()
                works.until("gear_index_sync_pending", lambda pending: pending == 0)
                yield works
        finally:
            drop_indices(opensearch_url, prefix)


@contextmanager
def no_store(service: Service) -> Iterator[None]:
    """The database's file is gone."""
    file = service.folder / "gear.db"
    file.rename(file.with_suffix(".away"))
    service.until("gear_ready", lambda ready: ready == 0, capability="orders")
    yield
    file.with_suffix(".away").rename(file)
    service.until("gear_ready", lambda ready: ready == 1, capability="orders")


@contextmanager
def no_engine(service: Service) -> Iterator[None]:
    """The engine refuses connections."""
    for wire in service.wires:
        wire.refuse()
    service.until("gear_ready", lambda ready: ready == 0, capability="search")
    assert service.search(1000).status_code == 503
    yield
    for wire in service.wires:
        wire.restore()
    service.until("gear_ready", lambda ready: ready == 1, capability="search")
    service.until("gear_engine_nodes_ejected", lambda nodes: nodes == 0)


@contextmanager
def hung_node(service: Service) -> Iterator[None]:
    """One way to the engine lets nothing through."""
    service.wires[1].hang()
    ejected = False
    for number in range(20):
        service.search(2000 + number).raise_for_status()
        ejected = "gear_engine_nodes_ejected 1.0" in service.scrape()
        if ejected:
            break
    assert ejected
    yield
    service.wires[1].restore()
    service.until("gear_engine_nodes_ejected", lambda nodes: nodes == 0)


@contextmanager
def overload(service: Service) -> Iterator[None]:
    """Many more searches come at once than are worked on."""
    for wire in service.wires:
        wire.delay = 0.1
    with ThreadPoolExecutor(30) as clients:
        codes = set(clients.map(lambda number: service.search(3000 + number).status_code, range(60)))
    assert 503 in codes
    for wire in service.wires:
        wire.delay = 0.0
    yield


@contextmanager
def read_only_index(service: Service) -> Iterator[None]:
    """The index takes no updates, as past the flood stage of a disk."""
    service.engine("_settings", {"index.blocks.write": True})
    service.order().raise_for_status()
    service.until("gear_index_sync_oldest_seconds", lambda seconds: seconds > 2)
    yield
    service.engine("_settings", {"index.blocks.write": None})
    service.until("gear_index_sync_pending", lambda pending: pending == 0)


@contextmanager
def changed_price(service: Service) -> Iterator[None]:
    """Somebody has written a price into the index."""
    service.engine("_update/19?refresh=true", {"doc": {"price": 1}})
    assert service.order(19).status_code == 409
    yield


@contextmanager
def no_dispatcher(service: Service) -> Iterator[None]:
    """Nobody has sent a callback for two minutes."""
    service.order(callbackUrl="http://127.0.0.1:9/hook").raise_for_status()
    due = int((datetime.now(UTC) - timedelta(minutes=2)).timestamp() * 1_000_000)
    with closing(sqlite3.connect(service.folder / "gear.db")) as database, database:
        database.execute("UPDATE deliveries SET next_attempt_at = ?", [due])
    yield
    with closing(sqlite3.connect(service.folder / "gear.db")) as database, database:
        database.execute("UPDATE deliveries SET state = 'delivered', next_attempt_at = NULL")


@contextmanager
def failed_load(service: Service) -> Iterator[None]:
    """A load found nothing to swap in."""
    names = ("opensearch_url", "index_prefix", "database_url")
    environment = {f"GEAR_{name.upper()}": str(getattr(service.settings, name)) for name in names}
    arguments = ["load", "-", "--platform", "730", "--quiet", "--metrics", str(service.folder / "load.prom")]
    assert CliRunner().invoke(gear_indexer, arguments, input="", env=environment).exit_code == 1
    yield
    (service.folder / "load.prom").unlink()


@contextmanager
def old_catalogue(service: Service) -> Iterator[None]:
    """What serves was loaded two days ago."""
    put_index(service.settings, CS2, ITEMS, datetime.now(UTC) - timedelta(days=2))
    yield
    put_index(service.settings, CS2, ITEMS)


FAULTS: list[tuple[Callable[[Service], Any], set[str]]] = [
    (no_store, {"GearStoreDown", "GearNotReady"}),
    (no_engine, {"GearNotReady", "GearSearchErrorBudgetBurn", "GearEngineNodeEjected"}),
    (hung_node, {"GearEngineNodeEjected"}),
    (overload, {"GearOverloaded", "GearSearchErrorBudgetBurn"}),
    (read_only_index, {"GearSoldItemsOffered"}),
    (changed_price, {"GearPriceChangedInIndex"}),
    (no_dispatcher, {"GearCallbacksLate"}),
    (failed_load, {"GearLoadFailed"}),
    (old_catalogue, {"GearCatalogueOld"}),
]


@pytest.mark.parametrize(("fault", "expected"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_a_fault_fires_its_alerts(
    service: Service, tmp_path: Path, fault: Callable[[Service], Any], expected: set[str]
) -> None:
    promtool()
    before = service.scrape()
    assert firing(tmp_path, before, before, time.time()) == set(), "nothing fires on a service that works"
    with fault(service):
        during = service.scrape()
        fired = firing(tmp_path, before, during, time.time())
    assert fired == expected


def test_a_follower_whose_engine_is_away_fires_its_alert(service: Service, opensearch_url: str, tmp_path: Path) -> None:
    promtool()
    port = free_port()
    names = ("index_prefix", "database_url")
    environment = {**os.environ, **{f"GEAR_{name.upper()}": str(getattr(service.settings, name)) for name in names}}

    def follower_metrics() -> str:
        return httpx.get(f"http://127.0.0.1:{port}/metrics").raise_for_status().text

    def committed_at() -> float:
        return samples(follower_metrics())[
            ("gear_follow_last_commit_timestamp_seconds", frozenset({("platform", "730")}))
        ]

    with TcpProxy.before(opensearch_url) as wire, closing(connect(service.settings)) as client:
        environment["GEAR_OPENSEARCH_URL"] = wire.url
        place = Place(client, service.settings.alias(CS2.id), tmp_path, environment)
        follower = FollowerProcess(place, "-", "--metrics-port", str(port))
        follower.write({"id": 17, "name": "AK-47 | Redline"})
        follower.wait_read(1)
        before = committed_at()
        wait_until(lambda: committed_at() != before, WAIT_SECONDS, "a follower with nothing to do fires the alert")
        wire.refuse()
        follower.write({"id": 18, "name": "AK-47 | Redline"})
        wait_until(
            lambda: time.time() - committed_at() >= STALLED_SECONDS,
            WAIT_SECONDS,
            "a follower without an engine commits",
        )
        during = service.scrape() + follower_metrics()
        follower.stop()
    assert firing(tmp_path, service.scrape(), during, time.time()) == {"GearFollowerStopped"}


def test_every_metric_that_a_rule_or_a_panel_names_is_reported(service: Service) -> None:
    with failed_load(service):
        reported = {name for name, _ in samples(service.scrape())}
    worker_deaths()  # of the process that starts workers: tests/faults/api/test_metrics.py reads it of two
    reported |= {"gear_worker_deaths_total", "gear_load_progress_ratio"}
    reported |= {"gear_follow_age_seconds", "gear_follow_last_commit_timestamp_seconds"}  # of followers: the test above
    text = "\n".join(line for line in RULES.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    texts = [text, *expressions_of(json.loads(DASHBOARD.read_text(encoding="utf-8")))]
    named = {name for each in texts for name in re.findall(r"(?<![:\w])gear_[a-z_]+", each)}
    assert len(named) > 30
    assert named - reported == set()
    records = set(re.findall(r"record: (\S+)", text))
    assert {name for each in texts for name in re.findall(r"\bgear:[a-z0-9_:]+", each)} == records


def expressions_of(dashboard: dict[str, Any]) -> list[str]:
    """The expressions of all panels."""
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
