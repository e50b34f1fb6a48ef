"""Concurrent writers, replays, deletes and loads end in the state of a simple model, whatever the order of arrival."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from tests.support.api.market import PATH, Market

IDS = range(2001, 2041)
WRITERS = 4
REQUESTS = 12  # of each writer
SEED = 1


class Model:
    """Each event is a time and what it says of items; of an item holds what the latest event says that names it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: set[int] = set()
        self.events: list[tuple[int, dict[int, str | None]]] = []

    def unique(self, version: int) -> int:
        """This time or one shortly before, which no other event has."""
        with self._lock:
            while version in self._times:
                version -= 1
            self._times.add(version)
            return version

    def state(self) -> dict[int, str]:
        names: dict[int, str | None] = {}
        for _, changes in sorted(self.events, key=lambda event: event[0]):
            names |= changes
        return {number: name for number, name in names.items() if name is not None}


def loaded(market: Market, model: Model, chance: random.Random) -> int:
    """Loads two thirds of all ids; when it began."""
    sampled = chance.sample(IDS, len(IDS) * 2 // 3)
    names = {number: f"load {chance.random()}" for number in sampled}
    report = market.load([{"id": number, "name": name, "price": 1} for number, name in names.items()])
    assert report["proof"]["agrees"]
    model.events.append((report["version"], {**dict.fromkeys(IDS), **names}))
    version: int = report["version"]
    return version


def text_of(version: int) -> str:
    return f"{datetime.fromtimestamp(version // 10**6, UTC):%Y-%m-%dT%H:%M:%S}.{version % 10**6:06}Z"


def test_all_end_in_the_state_of_the_model(market: Market) -> None:
    chance, model = random.Random(SEED), Model()
    start = loaded(market, model, chance)
    ended = threading.Event()

    def write(chance: random.Random) -> None:
        sent: list[tuple[str, Any]] = []
        for _ in range(REQUESTS):
            if sent and chance.random() < 0.2:
                send(*chance.choice(sent))
            now = time.time_ns() // 1000
            sampled = chance.sample(IDS, chance.randint(1, 12))
            if chance.random() < 0.6:
                rows = []
                for number in sampled:
                    version = model.unique(changed(chance, now))
                    name = f"live {version}"
                    rows.append({"id": number, "name": name, "price": 1, "changedAt": text_of(version)})
                    model.events.append((version, {number: name}))
                sent.append(("PUT", rows))
            else:
                version = model.unique(changed(chance, now))
                model.events.append((version, dict.fromkeys(sampled)))
                sent.append(("DELETE", {"ids": sampled, "changedAt": text_of(version)}))
            if chance.random() < 0.8:  # the others come late
                send(*sent[-1])
        for request in chance.sample(sent, len(sent)):
            send(*request)

    def changed(chance: random.Random, now: int) -> int:
        span = chance.choice((2 * 10**6, now - start + 10**6))
        return now - chance.randint(0, span)

    def send(method: str, content: Any) -> None:
        response = market.request(method, PATH, json=content)
        assert (response.status_code, response.json()["refused"]) == (200, []), response.text

    def loads() -> None:
        while not ended.is_set():
            loaded(market, model, random.Random(f"{SEED} load {len(model.events)}"))

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        loading = pool.submit(loads)
        writing = [pool.submit(write, random.Random(f"{SEED} {number}")) for number in range(WRITERS)]
        try:
            for writer in writing:
                writer.result()
        finally:
            ended.set()
        loading.result()
    assert {number: name for number, name in market.names().items() if number in IDS} == model.state()
