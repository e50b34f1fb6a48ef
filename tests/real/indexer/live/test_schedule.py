"""Loads, upserts, deletes and orders at once, by a seeded schedule; at the end every item is what a model says.

Twenty seconds here; GEAR_TEST_SCHEDULE_SECONDS and GEAR_TEST_SCHEDULE_SEED give longer and other ones.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import orjson
import pytest
from opensearchpy.exceptions import NotFoundError

from mappings.names import products_of
from tests.support.examples import examples
from tests.support.indexer.fixtures import Place, lines
from tests.support.indexer.shop import Shop

SECONDS = float(os.environ.get("GEAR_TEST_SCHEDULE_SECONDS", examples(10, 60)))
SEED = int(os.environ.get("GEAR_TEST_SCHEDULE_SEED", "1"))
IDS = 300


class Model:
    """What each item must be: the change with the latest time, by id. Each worker changes ids of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes: list[tuple[int, int, str | None]] = []  # time, id, name or None
        self.loads: list[tuple[int, dict[int, str]]] = []  # time, the whole catalogue
        self.sold: set[int] = set()

    def changed(self, at: int, names: dict[int, str | None]) -> None:
        with self._lock:
            self._changes += [(at, number, name) for number, name in names.items()]

    def items(self) -> dict[int, str]:
        """The last load, and every change after it."""
        began, catalogue = max(self.loads)
        names: dict[int, str | None] = {**catalogue}
        later = sorted((change for change in self._changes if change[0] > began), key=lambda change: change[0])
        names.update({number: name for _, number, name in later})
        return {number: name for number, name in names.items() if name is not None}


class Workers:
    """Threads that run commands in processes of their own until the time is over, and another load is done.

    An error of one ends the test.
    """

    def __init__(self, place: Place, model: Model) -> None:
        self._place = place
        self._model = model
        self._end = time.monotonic() + SECONDS
        self._failed = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=16)  # more than there are workers
        self._futures: list[Future[None]] = []

    def command(self, verb: str, *options: str, stdin: bytes) -> dict[str, Any]:
        """A command's report."""
        arguments = [
            sys.executable,
            "-m",
            "indexer.cli.main",
            verb,
            *options,
            "-",
            "--platform",
            "730",
            "--json",
            "--quiet",
        ]
        environment = {**self._place.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            arguments, env=environment, input=stdin, capture_output=True, check=False, cwd=self._place.folder
        )
        assert done.returncode == 0, done.stderr.decode()
        report: dict[str, Any] = orjson.loads(done.stdout)
        return report

    def begin(self, work: Callable[[random.Random], None], number: int) -> None:
        """Repeats some work with a random of its own."""

        def repeated() -> None:
            chance = random.Random(f"{SEED} {number}")
            with ExitStack() as unless_done:
                unless_done.callback(self._failed.set)
                while not (self._is_over() or self._failed.is_set()):
                    work(chance)
                unless_done.pop_all()

        self._futures.append(self._pool.submit(repeated))

    def _is_over(self) -> bool:
        return time.monotonic() > self._end and len(self._model.loads) > 1

    def join(self) -> None:
        """Waits for all of them; raises what one of them raised."""
        self._pool.shutdown()
        for future in self._futures:
            future.result()


def _rows(names: dict[int, str]) -> bytes:
    return lines([{"id": number, "name": name} for number, name in names.items()])


def _dispatch(place: Place, shop: Shop) -> None:
    """What the API's dispatcher does: tells the index what is bound."""
    for number, bound in shop.publish().items():
        # what is in conflict, with a delete as well, is told again
        while _mark(place, number, bound).get("status") == 409:
            pass


def _mark(place: Place, number: int, bound: bool) -> dict[str, Any]:
    response: dict[str, Any] = place.client.update(
        index=place.alias,
        id=str(number),
        body={"doc": {"bound": bound}},
        params={"retry_on_conflict": 50},
        ignore=(404, 409),
    )
    return response


def _load(workers: Workers, model: Model, chance: random.Random) -> None:
    """Loads nine tenths of all ids."""
    numbers = sorted(chance.sample(range(1, IDS + 1), IDS * 9 // 10))
    names = {number: f"load {len(model.loads)} item {number}" for number in numbers}
    report = workers.command("load", stdin=_rows(names))
    assert report["proof"]["agrees"] is True
    model.loads.append((report["version"], names))


def _begin(workers: Workers, model: Model, place: Place, shop: Shop) -> None:
    """Everything that may happen, each in a thread."""

    def load(chance: random.Random) -> None:
        _load(workers, model, chance)

    def changes(first: int) -> Callable[[random.Random], None]:
        mine = range(first, IDS + 1, 2)

        def work(chance: random.Random) -> None:
            numbers = chance.sample(mine, chance.randint(1, 40))
            if chance.random() < 0.6:
                names = {number: f"live {chance.random()} item {number}" for number in numbers}
                report = workers.command("upsert", stdin=_rows(names))
                model.changed(report["version"], {**names})
            else:
                report = workers.command("delete", stdin="\n".join(map(str, numbers)).encode())
                model.changed(report["version"], dict.fromkeys(numbers))

        return work

    def order(chance: random.Random) -> None:
        number = chance.randint(1, IDS)
        if number in model.sold:
            shop.cancel(number)
            model.sold.discard(number)
        else:
            shop.sell(number)
            model.sold.add(number)
        if chance.random() < 0.5:
            _dispatch(place, shop)

    def read(chance: random.Random) -> None:
        with suppress(NotFoundError):  # a load has removed the generation in between
            assert not _without_product(place)
        time.sleep(chance.random() / 10)

    for number, work in enumerate([load, changes(1), changes(2), order, read]):
        workers.begin(work, number)


def _stored_items(place: Place) -> dict[int, tuple[str, bool]]:
    """What serves: each item's name, and whether it is bound."""
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 10 * IDS})["hits"]["hits"]
    return {int(hit["_id"]): (hit["_source"]["name"], hit["_source"]["bound"]) for hit in hits}


def _without_product(place: Place) -> set[str]:
    """The products that items name which a search finds, and that a later search of their generation does not find."""
    hits = place.client.search(index=place.alias, body={"size": 10 * IDS, "_source": ["product"]})["hits"]["hits"]
    if not hits:
        return set()
    named = {hit["_source"]["product"] for hit in hits}
    body = {"query": {"ids": {"values": sorted(named)}}, "size": 10 * IDS, "_source": False}
    products = place.client.search(index=products_of(hits[0]["_index"]), body=body)["hits"]["hits"]
    return named - {product["_id"] for product in products}


@pytest.mark.timeout(120 + 3 * SECONDS)
def test_loads_changes_and_orders_at_once_end_as_the_model_says(place: Place, shop: Shop) -> None:
    model = Model()
    workers = Workers(place, model)
    _load(workers, model, random.Random(SEED))
    _begin(workers, model, place, shop)
    workers.join()
    _dispatch(place, shop)
    expected = {number: (name, number in model.sold) for number, name in model.items().items()}
    assert _stored_items(place) == expected
    assert not _without_product(place)
