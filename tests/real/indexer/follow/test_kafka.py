"""Changes from a Kafka topic by key, value and time, committed once acknowledged."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.api.waiting import wait_until
from tests.support.indexer.examined import names
from tests.support.indexer.fixtures import Place
from tests.support.indexer.follower import FollowerProcess
from tests.support.streams.kafka import Kafka
from tests.support.streams.messages import send


def test_the_key_is_the_id_and_the_time_decides(place: Place, kafka: Kafka, topic: str) -> None:
    now = time.time_ns() // 10**6
    producer = kafka.producer()
    send(producer, topic, 1, "late", now - 1)
    send(producer, topic, 1, "early", now - 2)
    send(producer, topic, 2, None)
    send(producer, topic, 7, "new")
    producer.produce(topic, key=b"8", value=orjson.dumps({"id": 9, "name": "another"}))
    producer.produce(topic, key=b"eight", value=None)
    producer.produce(topic, key=b"10", value=b"{")
    producer.produce(topic, value=orjson.dumps({"id": 11, "name": "no key"}))
    send(producer, topic, 12, "ahead", now + 60_000)
    producer.produce(topic, key=b"99999999999999999999", value=orjson.dumps({"id": 1, "name": "no such key"}))
    producer.flush()
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}", "--rejects", "bad.ndjson")
    report = follower.wait_read(10)
    assert (report["written"], report["deleted"], report["superseded"], report["rejected"]) == (2, 1, 1, 6)
    wait_until(lambda: kafka.committed(place.alias, topic) == 10)
    assert names(place) == {1: "late", 3: "Item 3", 7: "new"}
    rejected = [orjson.loads(line) for line in (place.folder / "bad.ndjson").read_bytes().splitlines()]
    assert {(entry["id"], entry["field"]) for entry in rejected} == {
        (8, "key"),
        (None, "key"),
        (10, None),
        (12, "changedAt"),
    }
    assert rejected[0]["file"].startswith(f"kafka://{kafka.address}/{topic}[")
    send(producer, topic, 7, "newer")
    producer.flush()
    wait_until(lambda: names(place)[7] == "newer", seconds=10)
    follower.stop()
    assert follower.process.returncode == 0


def test_a_single_message_is_searchable_and_its_age_is_reported(place: Place, kafka: Kafka, topic: str) -> None:
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}")
    producer = kafka.producer()
    for number in range(1, 6):
        began = time.time()
        send(producer, topic, number, f"soon {number}")
        producer.flush()
        report = follower.wait_read(number)
        assert report["read"] == number
        assert 0 < report["age"] <= time.time() - began + 0.001  # Kafka dates messages in milliseconds
        wait_until(partial(is_found, place, number, f"soon {number}"))  # without a refresh of the test's own
    follower.stop()


@pytest.mark.parametrize(
    ("properties", "error"),
    [("nope", "client.properties, line 1: must be name=value"), ("group.id=x", "group.id is set by the command"),
     ("no.such=1", "No such configuration property")],
)  # fmt: skip
def test_what_is_wrong_with_the_client_is_said_at_the_start(
    place: Place, kafka: Kafka, topic: str, properties: str, error: str
) -> None:
    Path("client.properties").write_text(properties)
    response = follow(place, f"kafka://{kafka.address}/{topic}", "--properties", "client.properties")
    assert error in response["error"]


def test_a_topic_that_is_not_there_is_said_at_the_start(place: Place, kafka: Kafka, topic: str) -> None:
    response = follow(place, f"kafka://{kafka.address}/absent")
    assert "Unknown topic or partition" in response["error"]


def is_found(place: Place, number: int, name: str) -> bool:
    """Whether a search finds the item by this name."""
    hits = place.client.search(index=place.alias, body={"query": {"ids": {"values": [number]}}})["hits"]["hits"]
    return [hit["_source"]["name"] for hit in hits] == [name]


def follow(place: Place, *arguments: str) -> dict[str, Any]:
    """The answer of a follower that cannot start."""
    return place.json("follow", *arguments, "--platform", "730", "--quiet", code=1)
