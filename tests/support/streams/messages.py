"""Sends messages to a Kafka topic."""

import time

import orjson
from confluent_kafka import Producer


def send(producer: Producer, topic: str, number: int, name: str | None, at: int | None = None) -> None:
    """One message: an item of this name or, without one, a delete, at a time in milliseconds."""
    value = None if name is None else orjson.dumps({"id": number, "name": name, "price": 1})
    producer.produce(topic, key=str(number).encode(), value=value, timestamp=at or time.time_ns() // 10**6)
    producer.poll(0)
