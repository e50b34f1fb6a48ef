"""A source of items that change all the time, and what tells of it: HTTP, a topic, whole exports.

Each change has a time of its own. It is told late, twice and in any order, so the state is that of the last by time.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import httpx
import orjson

from tests.support.api.catalogue import simple_item
from tests.support.indexer.fixtures import lines
from tests.support.streams.changes import Json
from tests.support.streams.kafka import Kafka

NAMES = (
    "AK-47 | Redline (Field-Tested)",
    "AWP | Asiimov (Field-Tested)",
    "M4A4 | Asiimov (Minimal Wear)",
    "Chroma Case",
)
MAX_WAITING = 6
PATH = "/v1/catalogue/730/items"


@dataclass(frozen=True)
class Event:
    """At one time (milliseconds) these items came or changed, or all of them went."""

    at: int
    items: dict[int, Json | None]

    @property
    def changed_at(self) -> str:
        """As HTTP has it."""
        return datetime.fromtimestamp(self.at / 1000, UTC).isoformat(timespec="milliseconds")


Send = Callable[[Event], Awaitable[None]]


@dataclass
class Source:
    """The items as they are, those in `unchanging` always on sale; `waiting` is what has not been told yet."""

    changing: Sequence[int]
    unchanging: Sequence[int]
    items: dict[int, Json | None] = field(default_factory=dict)
    waiting: list[Event] = field(default_factory=list)
    sent: int = 0
    _changed: dict[int, int] = field(default_factory=dict)
    _at: int = 0

    def now(self) -> int:
        """A time that no other change has."""
        self._at = max(time.time_ns() // 10**6, self._at + 1)
        return self._at

    def offered(self) -> list[Json]:
        """What is on sale."""
        return [item for item in self.items.values() if item is not None]

    def change(self, chance: Random) -> None:
        """Some items come, change or go."""
        if chance.random() < 0.3:
            self._add(dict.fromkeys(chance.sample(self.changing, chance.randint(1, 10))))
        else:
            numbers = chance.sample([*self.changing, *self.unchanging], chance.randint(1, 30))
            self._add({number: _item(number, chance) for number in numbers})

    def _add(self, items: dict[int, Json | None]) -> None:
        if items:
            event = Event(self.now(), items)
            self.items |= items
            self._changed |= dict.fromkeys(items, event.at)
            self.waiting.append(event)

    def export(self, file: Path) -> int:
        """Writes the whole catalogue; returns the time of it."""
        file.write_bytes(lines(self.offered()))
        return self.now()

    def tell_again(self, since: int) -> None:
        """As operators are told to: what has changed since an export, once more after its load."""
        numbers = [number for number, at in self._changed.items() if at >= since]
        self._add({number: self.items[number] for number in numbers if self.items[number] is not None})
        self._add({number: None for number in numbers if self.items[number] is None})

    async def tell(self, send: Send, chance: Random, stop: asyncio.Event) -> None:
        """Changes items and tells it, until it is to stop and nothing waits."""
        sent: list[Event] = []
        while not stop.is_set() or self.waiting:
            if not stop.is_set():
                self.change(chance)
            if self.waiting and (stop.is_set() or len(self.waiting) > MAX_WAITING or chance.random() < 0.7):
                event = self.waiting.pop(chance.randrange(len(self.waiting)))
                await send(event)
                sent.append(event)
                self.sent += len(event.items)
            if sent and chance.random() < 0.2:
                await send(chance.choice(sent[-200:]))
            await asyncio.sleep(chance.uniform(0.02, 0.1))


def _item(number: int, chance: Random) -> Json:
    return simple_item(number, chance.randint(50, 6000) / 100, chance.choice(NAMES))


def first_items(source: Source, chance: Random) -> list[Json]:
    """The catalogue of the beginning: what is unchanging, and half of what changes."""
    for number in [*source.unchanging, *source.changing[::2]]:
        source.items[number] = _item(number, chance)
    return source.offered()


def by_http(client: httpx.AsyncClient) -> Send:
    """Tells by the API; `client` asks until it is answered."""

    async def send(event: Event) -> None:
        items = [item for item in event.items.values() if item is not None]
        if items:
            content = [{**item, "changedAt": event.changed_at} for item in items]
            response = await client.put(PATH, json=content)
        else:
            body = {"ids": list(event.items), "changedAt": event.changed_at}
            response = await client.request("DELETE", PATH, json=body)
        assert response.status_code == 200, response.text
        body = response.json()
        assert (body["refused"], body["written"] + body["superseded"]) == ([], len(event.items)), body

    return send


class Topic:
    """Tells by a topic, with a message that nobody can read now and then."""

    def __init__(self, kafka: Kafka, name: str, chance: Random) -> None:
        self.name = name
        self.address = kafka.topic(name)
        self.sent = self.unreadable = 0
        self._producer = kafka.producer()
        self._chance = chance

    async def send(self, event: Event) -> None:
        """One message for each item."""
        for number, item in event.items.items():
            value = None if item is None else orjson.dumps(item)
            self._produce(str(number), value, event.at)
        if self._chance.random() < 0.05:
            self.unreadable += 1
            self._produce(str(min(event.items)), b'{"id": ', event.at)

    def _produce(self, key: str, value: bytes | None, at: int) -> None:
        self.sent += 1
        self._producer.produce(self.name, key=key.encode(), value=value, timestamp=at)
        self._producer.poll(0)

    async def flush(self) -> None:
        """Waits until the broker has all of it."""
        left = await asyncio.to_thread(self._producer.flush, 60)
        assert left == 0, f"{left} messages were not taken"
