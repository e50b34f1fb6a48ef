"""Sends messages to a Kafka topic, and reads which items serve after them."""

import time

import orjson
from confluent_kafka import Producer

from tests.support.indexer.fixtures import Place


def send(producer: Producer, topic: str, number: int, name: str | None, at: int | None = None) -> None:
    """One message: an item of this name or, without one, a delete, at a time in milliseconds."""
    value = None if name is None else orjson.dumps({"id": number, "name": name, "price": 1})
    producer.produce(topic, key=str(number).encode(), value=value, timestamp=at or time.time_ns() // 10**6)
    producer.poll(0)


def names(place: Place) -> dict[int, str]:
    """The name of each item that serves."""
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 10_000})["hits"]["hits"]
    return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}
