"""A shop at work: an index and a service in; prices that change and items that are sold, until the context ends."""

import json
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.request import Request, urlopen

TICK_SECONDS = 0.1
KNOWN_ITEMS = 5_000
MOST_CENTS = 100_000


@dataclass(frozen=True)
class Changed:
    """What changes: the engine's address, the index, what a unit of its prices is, and where items are ordered."""

    opensearch_url: str
    index: str
    cents: bool
    orders: str | None = None  # the service's address, where it takes orders
    headers: Mapping[str, str] | None = None


@contextmanager
def changing(changed: Changed, changes: int, orders: int) -> Iterator[None]:
    """Changes so many prices a second and places so many orders; raises RuntimeError where any of that failed."""
    ids = _ids(changed)
    over = threading.Event()
    failures: list[str] = []

    def work() -> None:
        chance = random.Random(0)
        sold = iter(chance.sample(ids, len(ids)))
        tick = 0
        while not over.wait(TICK_SECONDS):
            tick += 1
            try:
                _reprice(changed, chance.sample(ids, max(1, round(changes * TICK_SECONDS))), chance)
                due = int(tick * orders * TICK_SECONDS) - int((tick - 1) * orders * TICK_SECONDS)
                for _ in range(due if changed.orders else 0):
                    _order(changed, next(sold))
            except (OSError, StopIteration) as error:
                failures.append(repr(error))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()
    if failures:
        raise RuntimeError(failures[0])


def _ids(changed: Changed) -> list[str]:
    body = {"size": KNOWN_ITEMS, "_source": False, "query": {"range": {"price": {"gt": 0}}}}
    found = json.loads(_post(f"{changed.opensearch_url}/{changed.index}/_search", json.dumps(body), {}))
    return [hit["_id"] for hit in found["hits"]["hits"]]


def _reprice(changed: Changed, ids: list[str], chance: random.Random) -> None:
    lines = []
    for one in ids:
        cents = chance.randint(1, MOST_CENTS)
        lines += [{"update": {"_id": one}}, {"doc": {"price": cents if changed.cents else cents / 100}}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    answer = json.loads(_post(f"{changed.opensearch_url}/{changed.index}/_bulk", text, {}))
    broken = [entry for entry in answer["items"] if entry["update"]["status"] not in (200, 409)]
    if broken:
        raise OSError(str(broken[0]))


def order_of(item: str, callback_url: str) -> dict[str, str]:
    """An order's body: each item has a buyer of its own."""
    return {
        "account": f"client-{item}",
        "email": "buyer@example.com",
        "platform": "cs2",
        "item": item,
        "fee": "excluded",
        "callbackUrl": callback_url,
        "successUrl": "https://shop.example.com/thanks",
    }


def _order(changed: Changed, item: str) -> None:
    body = order_of(item, "https://shop.example.com/hooks")
    try:
        _post(f"{changed.orders}/v1/gear", json.dumps(body), changed.headers or {})
    except OSError as error:
        if getattr(error, "code", None) != 409:  # sold in an earlier run
            raise


def _post(address: str, text: str, headers: Mapping[str, str]) -> bytes:
    request = Request(address, text.encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
    return content
