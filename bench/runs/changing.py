"""A shop at work: an index and a service in; prices that change and items that are sold, until the context ends."""

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.request import Request, urlopen
from uuid import uuid4

TICK_SECONDS = 0.1
KNOWN_ITEMS = 5_000
MOST_CENTS = 100_000


@dataclass(frozen=True)
class Changed:
    """What changes: the engine's address, the index, what a unit of its prices is, and where items are ordered and
    their callbacks are received.
    """

    opensearch_url: str
    index: str
    cents: bool
    orders: str | None = None  # the service's address, where it takes orders
    headers: Mapping[str, str] | None = None
    callbacks: str = "https://shop.example.com/hooks"


@dataclass
class Sold:
    """How many items were ordered."""

    items: int = 0


@contextmanager
def changing(changed: Changed, changes: int, orders: float) -> Iterator[Sold]:
    """Changes so many prices a second and places so many orders; raises RuntimeError where any of that failed."""
    ids = _ids(changed)
    over = threading.Event()
    failures: list[str] = []
    sold = Sold()

    def work() -> None:
        chance = random.Random(0)
        items = iter(chance.sample(ids, len(ids)))
        tick = 0
        began = time.monotonic()
        while not over.wait(max(0.0, began + tick * TICK_SECONDS - time.monotonic())):
            tick += 1
            try:
                _reprice(changed, chance.sample(ids, max(1, round(changes * TICK_SECONDS))), chance)
                due = int(tick * orders * TICK_SECONDS) - int((tick - 1) * orders * TICK_SECONDS)
                for _ in range(due if changed.orders else 0):
                    sold.items += _order(changed, next(items))
            except (OSError, StopIteration) as error:
                failures.append(repr(error))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield sold
    finally:
        over.set()
        worker.join()
    if failures:
        raise RuntimeError(failures[0])


def _ids(changed: Changed) -> list[str]:
    # what an order of an earlier run binds cannot be ordered again; the plain index has no such field
    on_offer = {"filter": {"range": {"price": {"gt": 0}}}, "must_not": {"term": {"bound": True}}}
    body = {"size": KNOWN_ITEMS, "_source": False, "query": {"bool": on_offer}}
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


def _order(changed: Changed, item: str) -> bool:
    """Orders the item; False where an order of an earlier run had it, which the index did not know yet."""
    headers = {**(changed.headers or {}), "Idempotency-Key": str(uuid4())}
    try:
        _post(f"{changed.orders}/v1/gear", json.dumps(order_of(item, changed.callbacks)), headers)
    except OSError as error:
        if getattr(error, "code", None) != 409:
            raise
        return False
    return True


def _post(address: str, text: str, headers: Mapping[str, str]) -> bytes:
    request = Request(address, text.encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
    return content
