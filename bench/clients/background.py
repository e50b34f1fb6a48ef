"""Traffic beside a measured run: prices that change in the index, and orders for its items."""

import random
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import uuid4

import orjson

from bench.clients.connection import StatusError, request_json
from mappings.histograms import bucket_of, price_edges

TICK_SECONDS = 0.1
ITEMS = 5_000
MAX_CENTS = 100_000
EDGES = price_edges(2)


@dataclass(frozen=True)
class Target:
    """The index whose prices change, and the service that takes the orders, if any."""

    opensearch_url: str
    index: str
    prices_in_cents: bool
    orders_address: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    callback_url: str = "https://shop.example.com/hooks"


@dataclass
class OrderCount:
    """How many orders were placed."""

    orders: int = 0


@contextmanager
def background_traffic(target: Target, changes: int, orders: float) -> Iterator[OrderCount]:
    """Changes so many prices and places so many orders a second; raises where any of that failed."""
    stopped = threading.Event()
    count = OrderCount()
    item_ids = _item_ids(target)

    def work() -> None:
        chance = random.Random(0)
        unsold = iter(chance.sample(item_ids, len(item_ids)))
        started = time.monotonic()
        tick = 0
        while not stopped.wait(max(0.0, started + tick * TICK_SECONDS - time.monotonic())):
            tick += 1
            due = int(tick * orders * TICK_SECONDS) - int((tick - 1) * orders * TICK_SECONDS)
            _change_prices(target, chance.sample(item_ids, max(1, round(changes * TICK_SECONDS))), chance)
            if target.orders_address is not None:
                count.orders += sum(_place_order(target, item_id) for item_id in islice(unsold, due))

    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(work)
        try:
            yield count
        finally:
            stopped.set()
    worker.result()


def _item_ids(target: Target) -> list[str]:
    # an item that an order of an earlier run has reserved cannot be ordered again; the plain index has no such field
    on_offer = {"filter": {"range": {"price": {"gt": 0}}}, "must_not": {"term": {"bound": True}}}
    body = {"size": ITEMS, "_source": False, "query": {"bool": on_offer}}
    response = request_json("POST", f"{target.opensearch_url}/{target.index}/_search", body)
    return [hit["_id"] for hit in response["hits"]["hits"]]


def _change_prices(target: Target, item_ids: list[str], chance: random.Random) -> None:
    lines = []
    for item_id in item_ids:
        cents = chance.randint(1, MAX_CENTS)
        document: dict[str, Any] = {"price": cents / 100}
        if target.prices_in_cents:  # an item whose prices differ, or whose digest is not its own, cannot be ordered
            document = {"price": cents, "priceBucket": bucket_of(cents, EDGES), "digest": None}
        lines += [{"update": {"_id": item_id}}, {"doc": document}]
    content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    response = request_json("POST", f"{target.opensearch_url}/{target.index}/_bulk", content)
    failed = [entry for entry in response["items"] if entry["update"]["status"] not in (200, 409)]
    if failed:
        raise OSError(str(failed[0]))


def order_body(item_id: str, callback_url: str) -> dict[str, str]:
    """An order; each item has a buyer of its own."""
    return {
        "account": f"client-{item_id}",
        "email": "buyer@example.com",
        "platform": "cs2",
        "item": item_id,
        "fee": "excluded",
        "callbackUrl": callback_url,
        "successUrl": "https://shop.example.com/thanks",
    }


def _place_order(target: Target, item_id: str) -> bool:
    """Orders the item; False where an order of an earlier run has it, which the index did not know yet."""
    headers = {**target.headers, "Idempotency-Key": str(uuid4())}
    try:
        request_json("POST", f"{target.orders_address}/v1/gear", order_body(item_id, target.callback_url), headers)
    except StatusError as error:
        if error.status != 409:
            raise
        return False
    return True
