"""Followers of a Kafka topic over deaths and rebalances: a position is committed once its changes are acknowledged."""

import random
import signal
import time

from tests.support.api.waiting import wait_until
from tests.support.indexer.examined import names
from tests.support.indexer.fixtures import Place
from tests.support.indexer.follower import FollowerProcess
from tests.support.indexer.wire import LOSE, Fault, Wire, is_bulk, pass_all
from tests.support.streams.kafka import Kafka
from tests.support.streams.messages import send

SEED = 1


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
    wait_until(lambda: kafka.committed(place.alias, topic) == history.sent)
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
    wait_until(lambda: bool(lost))
    assert kafka.committed(place.alias, topic) == 0
    killed.stop(signal.SIGKILL)
    wire.rule = pass_all
    follower = FollowerProcess(place, f"kafka://{kafka.address}/{topic}")
    follower.wait_read(1)
    wait_until(lambda: kafka.committed(place.alias, topic) == 1)
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
    wait_until(lambda: follower.process.poll() is not None)
    assert "gave up after 1 seconds of retries" in follower.end()["error"]
    assert follower.process.returncode == 1
    assert kafka.committed(place.alias, topic) == 0
