"""gear-node gives whoever has no Docker a real OpenSearch: started once, kept over restarts, ended for good."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from node.machine.account import running_as_root
from tests.support.node.repository import Repository, serving
from tests.support.servers import Node, folder_for_tests, free_port

BESIDE = folder_for_tests(f"node-beside-{os.getpid()}")
"""The directory of a second node that never gets to run."""


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """A node that the first test starts; each test leaves it running."""
    own = Node(folder_for_tests(f"node-cli-{os.getpid()}"), free_port(), heap="256m")
    yield own
    own.remove()
    Node(BESIDE, 0).remove()


def status(node: Node) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(node.command("status", "--json", check=False).stdout)
    return report


def start(node: Node, *options: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return node.command("start", "--port", str(node.port), "--heap", node.heap, *options, check=check)


def test_two_starts_at_once_become_one_node(node: Node) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: start(node, "--json"), range(2)))
    responses = [json.loads(done.stdout) for done in both]
    assert sorted(response["alreadyRunning"] for response in responses) == [False, True]
    assert responses[0]["pid"] == responses[1]["pid"]
    assert {response["url"] for response in responses} == {node.url}
    assert sum("another gear-node command is at work" in done.stderr for done in both) == 1


def test_the_node_answers_and_says_how_it_is(node: Node) -> None:
    assert httpx.get(node.url).json()["version"]["number"] == "3.6.0"
    done = node.command("status")
    assert "state     running" in done.stdout
    assert re.search(r"disk      [0-9.]+ GB free", done.stdout)
    report = status(node)
    assert report["running"] is True
    assert report["health"] == "green"
    assert (report["port"], report["heap"], report["jvm"]) == (node.port, "256m", "laptop")


def test_it_listens_on_loopback_only_and_not_as_root(node: Node) -> None:
    process = psutil.Process(status(node)["pid"])
    listening = [wire.laddr.ip for wire in process.net_connections("inet") if wire.status == psutil.CONN_LISTEN]
    assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}
    assert process.uids().real != 0
    assert running_as_root() or process.uids().real == os.getuid()


def test_every_analyzer_can_be_built_thai_included(node: Node) -> None:
    analysis = {"analyzer": {"thai": {"tokenizer": "thai"}}}
    response = httpx.put(f"{node.url}/thai", json={"settings": {"analysis": analysis, "number_of_replicas": 0}})
    assert response.json()["acknowledged"] is True
    words = httpx.post(f"{node.url}/thai/_analyze", json={"analyzer": "thai", "text": "สวัสดีชาวโลก"}).json()["tokens"]
    assert len(words) > 1


def test_a_write_makes_no_index_by_itself(node: Node) -> None:
    assert httpx.put(f"{node.url}/unknown/_doc/1", json={}).status_code == 404


def test_a_second_start_says_that_it_runs(node: Node) -> None:
    done = start(node)
    assert done.stdout == f"{node.url}\n"
    assert "OpenSearch runs already" in done.stderr
    other = node.command("start", "--port", str(free_port()), check=False)
    assert other.returncode == 1
    assert f"runs already with port {node.port}" in other.stderr


def test_a_taken_port_is_reported_before_anything_is_started(node: Node) -> None:
    done = Node(BESIDE, node.port).command("start", "--port", str(node.port), check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"port {node.port} of 127.0.0.1 is taken by java" in done.stderr
    assert "--port" in done.stderr


def test_data_survive_a_stop_and_a_crash_and_the_stale_pid_file_is_reported(node: Node) -> None:
    written = httpx.put(f"{node.url}/thai/_doc/1?refresh=true", json={"kept": True})
    assert written.status_code == 201
    node.stop()
    assert node.command("status", check=False).returncode == 3
    assert "was not running" in node.command("stop").stderr
    node.start()
    assert httpx.get(f"{node.url}/thai/_doc/1").json()["_source"] == {"kept": True}
    node.kill()
    result = node.command("status", check=False)
    assert result.returncode == 3
    assert "is stale: the node ended without `gear-node stop`" in result.stdout
    assert "is stale: process" in start(node).stderr
    assert httpx.get(f"{node.url}/thai/_doc/1").json()["_source"] == {"kept": True}


def test_a_pid_that_belongs_to_somebody_else_now_is_left_alone(node: Node) -> None:
    beside = Node(BESIDE, free_port())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        record = json.loads((node.home / "node.json").read_text()) | {"pid": process.pid, "started": 1.0}
        (BESIDE / "node.json").write_text(json.dumps(record))
        assert status(beside)["stalePidFile"] is True
        assert "another process has that number now" in beside.command("stop").stderr
        assert process.poll() is None
        process.communicate(b"\n")
    assert not (BESIDE / "node.json").exists()


def test_a_start_that_takes_too_long_leaves_nothing_behind_and_shows_the_log() -> None:
    beside = Node(BESIDE, free_port())
    done = beside.command("start", "--port", str(beside.port), "--timeout", "0.5", check=False)
    assert done.returncode == 1
    assert "did not answer" in done.stderr
    assert status(beside)["state"] == "stopped"


def test_without_the_server_it_says_what_could_not_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder_for_tests(f"node-cache-{os.getpid()}")
    monkeypatch.setenv("GEAR_NODE_CACHE", str(cache))
    with serving(Repository(b"", ["404"] * 10)) as repository:
        monkeypatch.setenv("GEAR_NODE_REPOSITORY", repository.url)
        done = Node(BESIDE, 0).command("start", "--port", str(free_port()), check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot fetch org.opensearch.distribution.integ-test-zip:opensearch:3.6.0" in done.stderr
    remove_empty(cache)


def remove_empty(cache: Path) -> None:
    """Delete a cache that got no file."""
    (cache / "downloads").rmdir()
    (cache / "gear-node.lock").unlink()
    cache.rmdir()


def test_reset_deletes_the_data_and_keeps_the_downloads(node: Node) -> None:
    report = status(node)
    node.command("reset", "--yes")
    assert status(node)["state"] == "stopped"
    assert [path.name for path in node.home.iterdir()] == ["gear-node.lock"]
    assert list(Path(report["cache"]).glob("opensearch-3.6.0-*"))
