"""Changes from a Kafka topic by key, value and time, committed once acknowledged, over deaths and rebalances."""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer

from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.follower import FollowerProcess
from tests.support.indexer.wire import LOSE, Fault, Wire, is_bulk, pass_all
from tests.support.streams.kafka import Kafka

SEED = 1


def send(producer: Producer, topic: str, number: int, name: str | None, at: int | None = None) -> None:
    """One message: an item of this name or, without one, a delete, at a time in milliseconds."""
    value = None if name is None else orjson.dumps({"id": number, "name": name, "price": 1})
    producer.produce(topic, key=str(number).encode(), value=value, timestamp=at or time.time_ns() // 10**6)
    producer.poll(0)


def names(place: Place) -> dict[int, str]:
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 10_000})["hits"]["hits"]
    return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def topic(place: Place, kafka: Kafka) -> str:
    """A topic of this test's own, named after its alias, with a loaded platform."""
    place.load(items(3))
    kafka.topic(place.alias)
    return place.alias


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
    until(lambda: kafka.committed(place.alias, topic) == 10)
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
    until(lambda: names(place)[7] == "newer", seconds=10)
    follower.stop()
    assert follower.process.returncode == 0


def test_a_message_is_searchable_about_a_second_after_it_was_sent(place: Place, kafka: Kafka, topic: str) -> None:
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}")
    producer = kafka.producer()
    send(producer, topic, 5, "first")
    producer.flush()
    follower.wait_read(1)
    ages = []
    for number in range(6, 16):
        send(producer, topic, number, "soon")
        producer.flush()
        ages.append(follower.wait_read(number - 4)["age"])
    follower.stop()
    assert sorted(ages)[len(ages) // 2] < 1, ages


class History:
    """Messages as a source sends them, and the state that they end in."""

    def __init__(self, kafka: Kafka, topic: str) -> None:
        self._producer = kafka.producer()
        self._topic = topic
        self._at = time.time_ns() // 10**6
        self.state: dict[int, str] = {}
        self.sent = 0

    def send(self, chance: random.Random, count: int) -> None:
        """Changes of forty items, each later than the one before."""
        for _ in range(count):
            number = chance.randint(1, 40)
            while (now := time.time_ns() // 10**6) <= self._at:
                time.sleep(0.0005)
            self._at = now
            self.sent += 1
            if chance.random() < 0.3:
                self.state.pop(number, None)
                send(self._producer, self._topic, number, None, self._at)
            else:
                self.state[number] = f"change {self.sent}"
                send(self._producer, self._topic, number, self.state[number], self._at)
        self._producer.flush()


def test_deaths_and_rebalances_lose_and_repeat_nothing_visible(place: Place, kafka: Kafka, topic: str) -> None:
    """Two followers, one of which is killed again and again in the middle of its work."""
    chance, history = random.Random(SEED), History(kafka, topic)
    history.state = {number: f"Item {number}" for number in (1, 2, 3)}
    address = f"kafka://{kafka.address}/{topic}"
    steady = FollowerProcess(place, address)
    for _ in range(2):
        killed = FollowerProcess(place, address)
        while not killed.reports:  # until it has joined and works
            history.send(chance, 50)
        history.send(chance, 400)
        killed.stop(signal.SIGKILL)
    history.send(chance, 100)
    until(lambda: kafka.committed(place.alias, topic) == history.sent)
    assert names(place) == history.state
    steady.stop()
    assert steady.process.returncode == 0


def test_a_position_is_committed_only_after_the_acknowledgement(
    place: Place, kafka: Kafka, topic: str, wire: Wire
) -> None:
    lost: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path):
            lost.append(path)
            return LOSE
        return None

    producer = kafka.producer()
    send(producer, topic, 7, "once")
    producer.flush()
    wire.rule = rule
    killed = FollowerProcess(place, f"kafka://{kafka.address}/{topic}")
    until(lambda: bool(lost))
    assert kafka.committed(place.alias, topic) == 0
    killed.stop(signal.SIGKILL)
    wire.rule = pass_all
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}")
    follower.wait_read(1)
    until(lambda: kafka.committed(place.alias, topic) == 1)
    follower.stop()
    assert names(place)[7] == "once"


def test_an_engine_that_stays_away_ends_the_follower_uncommitted(
    place: Place, kafka: Kafka, topic: str, wire: Wire
) -> None:
    producer = kafka.producer()
    send(producer, topic, 7, "later")
    producer.flush()
    wire.rule = lambda method, path, body: Fault("cut") if is_bulk(path) else None
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}", "--retry-timeout", "1")
    until(lambda: follower.process.poll() is not None)
    assert "gave up after 1 seconds of retries" in follower.end()["error"]
    assert follower.process.returncode == 1
    assert kafka.committed(place.alias, topic) == 0


@pytest.mark.parametrize(
    ("properties", "error"),
    [("nope", "client.properties, line 1: must be name=value"), ("group.id=x", "group.id is set by the command"),
     ("no.such=1", "No such configuration property")],
)  # fmt: skip
def test_what_is_wrong_with_the_client_is_said_at_the_start(
    place: Place, kafka: Kafka, topic: str, properties: str, error: str
) -> None:
    Path("client.properties").write_text(properties)
    answer = follow(place, f"kafka://{kafka.address}/{topic}", "--properties", "client.properties")
    assert error in answer["error"]


def test_a_topic_that_is_not_there_is_said_at_the_start(place: Place, kafka: Kafka, topic: str) -> None:
    answer = follow(place, f"kafka://{kafka.address}/absent")
    assert "Unknown topic or partition" in answer["error"]


def follow(place: Place, *arguments: str) -> dict[str, Any]:
    """The answer of a follower that cannot start."""
    return place.json("follow", *arguments, "--platform", "730", "--quiet", code=1)
