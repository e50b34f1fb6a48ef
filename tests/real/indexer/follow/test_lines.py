"""Changes from stdin without end: written as they come, acknowledged on stdout, and nothing lost at a stop."""

import fcntl
import os
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

import orjson
import pytest

from tests.support.api.exposition import samples
from tests.support.indexer.examined import names
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.follower import FollowerProcess, row
from tests.support.indexer.shop import Shop
from tests.support.servers import free_port


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def test_changes_are_written_as_they_come_and_acknowledged_by_line(place: Place) -> None:
    place.load(items(3))
    follower = FollowerProcess(place, "-")
    follower.write(row(1), row(9), b"", {"id": 2, "deleted": True})
    report = follower.wait_read(3)
    assert (report["written"], report["deleted"], report["line"]) == (2, 1, 4)
    assert names(place) == {1: "live", 3: "Item 3", 9: "live"}
    follower.write(row(9, "older", changedAt=ago(0.2)), row(9, "newer", deleted=False))
    assert follower.wait_read(5)["superseded"] == 1
    assert follower.end()["error"] is None
    assert follower.process.returncode == 0
    assert names(place)[9] == "newer"


def test_what_breaks_a_rule_goes_to_the_rejects_file_and_stops_nothing(place: Place) -> None:
    place.load(items(1))
    follower = FollowerProcess(place, "-", "--rejects", "bad.ndjson")
    follower.write(b"nope", row(1, deleted="yes"), {"id": 2}, row(3))
    report = follower.wait_read(4)
    assert (report["written"], report["rejected"]) == (1, 3)
    rejected = [orjson.loads(line) for line in (place.folder / "bad.ndjson").read_bytes().splitlines()]
    assert [(entry["line"], entry["id"], entry["field"]) for entry in rejected] == [
        (1, None, None),
        (2, 1, "deleted"),
        (3, 2, "name"),
    ]
    assert "3 of 4 changes were refused" in follower.end()["error"]
    assert follower.process.returncode == 1


def test_a_stop_writes_what_was_read(place: Place) -> None:
    place.load(items(1))
    follower = FollowerProcess(place, "-")
    follower.write(row(1))
    follower.wait_read(1)
    follower.write(*(row(number) for number in range(100, 400)))
    report = follower.stop()
    assert follower.process.returncode == 0
    assert len(names(place)) == report["written"]
    assert report["line"] == report["read"] == report["written"]


def test_a_stop_ends_beside_lines_that_keep_coming_and_takes_none_that_it_does_not_write(place: Place) -> None:
    place.load(items(1))
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 2**20)  # so that nobody waits for a reader
    follower, stopped = FollowerProcess(place, "-", stdin=reading), threading.Event()

    def write() -> None:
        number = 0
        while not stopped.wait(0.001):
            number += 1
            os.write(writing, orjson.dumps(row(number)) + b"\n")

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write)
        follower.wait_read(200)
        report = follower.stop()
        stopped.set()
    os.close(writing)
    assert follower.process.returncode == 0, follower.errors()
    with os.fdopen(reading, "rb") as left:
        assert orjson.loads(left.readline())["id"] == report["line"] + 1


def test_a_pipe_that_cannot_be_read_on_is_an_error(place: Place) -> None:
    place.load(items(1))
    with socket.create_server(("127.0.0.1", 0)) as server:
        writer = socket.create_connection(server.getsockname())
        reader, _ = server.accept()
    with reader:
        follower = FollowerProcess(place, "-", stdin=reader.fileno())
    writer.sendall(orjson.dumps(row(7)) + b"\n")
    follower.wait_read(1)
    writer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()  # by a reset
    report = follower.end()
    assert follower.process.returncode == 1
    assert report["error"].startswith("stdin cannot be read after line 1: ")
    assert names(place)[7] == "live"


def test_items_that_orders_have_bound_stay_bound(place: Place, shop: Shop) -> None:
    place.load(items(2))
    shop.sell(1)
    follower = FollowerProcess(place, "-")
    follower.write(row(1), row(2))
    follower.wait_read(2)
    follower.end()
    assert [place.client.get(index=place.alias, id=number)["_source"]["bound"] for number in "12"] == [True, False]


def test_metrics_say_how_far_it_is(place: Place) -> None:
    place.load(items(1))
    port = free_port()
    follower = FollowerProcess(place, "-", "--metrics-port", str(port))
    follower.write(row(1, changedAt=ago(60)), row(2), b"nope")
    follower.wait_read(3)
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        metrics = samples(response.read().decode())
    platform = ("platform", "730")
    assert metrics["gear_follow_changes_total", frozenset({platform, ("result", "written")})] == 1
    assert metrics["gear_follow_changes_total", frozenset({platform, ("result", "superseded")})] == 1, "before the load"
    assert metrics["gear_follow_changes_total", frozenset({platform, ("result", "rejected")})] == 1
    assert metrics["gear_follow_lag", frozenset({platform})] == 0
    assert metrics["gear_follow_last_commit_timestamp_seconds", frozenset({platform})] > 1.7e9
    follower.end()


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("changes.ndjson", "must be - for stdin, or kafka://host:port/topic"),
        ("kafka://broker", "must be kafka://host:port/topic"),
        ("-", "nothing is loaded"),
    ],
)
def test_what_cannot_be_followed_is_said_at_the_start(place: Place, source: str, error: str) -> None:
    if source != "-":
        place.load(items(1))
    assert error in place.json("follow", source, "--platform", "730", "--quiet", stdin="", code=1)["error"]
    assert not [*Path(place.folder).glob("*.rejects.ndjson")]
