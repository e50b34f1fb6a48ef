"""What the README's first command does, and that the README's calls work on what it leaves running."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.indices import new_prefix
from tests.support.servers import free_port

# It makes everything anew, also on a machine that has other tests to run.
pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Demo:
    """A demo that was started: where it runs and what it printed."""

    base: str
    folder: Path
    environment: dict[str, str]
    printed: str

    def run(self, verb: str) -> str:
        """Runs the demo's script once more."""
        return run(verb, self.folder, self.environment)


def run(verb: str, folder: Path, environment: dict[str, str]) -> str:
    """Runs the demo's script in a folder of its own; returns what it printed."""
    command = [sys.executable, str(ROOT / "demo.py"), verb]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def demo(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo on the tests' engine, in a folder and on a port of its own."""
    folder = tmp_path_factory.mktemp("demo")
    port = free_port()
    with new_prefix(opensearch_url) as prefix:
        environment = {
            **os.environ,
            "GEAR_OPENSEARCH_URL": opensearch_url,
            "GEAR_INDEX_PREFIX": prefix,
            "GEAR_API_PORT": str(port),
        }
        try:
            yield Demo(f"http://127.0.0.1:{port}", folder, environment, run("start", folder, environment))
        finally:
            run("stop", folder, environment)


def test_the_demo_prints_a_first_search_and_a_first_order(demo: Demo) -> None:
    hits = re.findall(r"^ +([\d.]+) USD +float ([\d.]+) +(.+?) +\(id (\d+)\)$", demo.printed, re.MULTILINE)
    assert len(hits) > 2
    prices = [float(price) for price, *_ in hits]
    assert prices == sorted(prices)
    assert all(re.search(r"AK-47 \| Redline \((Field-Tested|Well-Worn)\)$", name) for _, _, name, _ in hits)
    assert re.search(r"First order: ord_\S+ is created, [\d.]+ USD", demo.printed)


def test_a_second_demo_keeps_the_catalogue_and_the_token(demo: Demo) -> None:
    token = (demo.folder / "var/demo-token.json").read_text()
    again = demo.run("start")
    assert "the catalogue is loaded already" in again
    assert (demo.folder / "var/demo-token.json").read_text() == token
    order = re.compile(r"First order: (ord_\S+)")
    assert order.findall(again) == order.findall(demo.printed) != []


def elsewhere(demo: Demo, folder: Path) -> str:
    """What a demo of another checkout prints: its own folder and port, the same engine and names, by its `.env`."""
    environment = {**demo.environment, "GEAR_API_PORT": str(free_port())}
    names = ("GEAR_OPENSEARCH_URL", "GEAR_INDEX_PREFIX")
    (folder / ".env").write_text("".join(f"{name}={environment.pop(name)}\n" for name in names))
    try:
        return run("start", folder, environment)
    finally:
        run("stop", folder, environment)


def total_of(printed: str) -> int:
    """How many items a demo's first search found."""
    return int(re.findall(r"First search: (\d+) items", printed)[0])


def test_a_demo_beside_another_checkout_offers_what_only_the_others_orders_bind(demo: Demo, tmp_path: Path) -> None:
    """The index of the node is shared, the database is not: README's first search finds the same in both."""
    (tmp_path / "one").mkdir()
    printed = elsewhere(demo, tmp_path / "one")
    assert "the catalogue is loaded already" in printed
    assert len(re.findall("^repaired, .* items that no active order holds are hidden in", printed, re.MULTILINE)) == 1
    assert total_of(printed) == total_of(demo.printed)
    again = elsewhere(demo, tmp_path / "one")
    assert "repaired" not in again, "an order of its own is no fault"
    assert total_of(again) == total_of(printed) - 1

    # its port was another one: the page's key of the first is worth nothing any more
    keys = [entry for entry in tokens_of(demo, tmp_path / "one") if entry["name"] == "explore"]
    assert [entry["revokedAt"] is None for entry in sorted(keys, key=lambda entry: entry["createdAt"])] == [False, True]


def tokens_of(demo: Demo, folder: Path) -> list[dict[str, Any]]:
    """The tokens of a demo's database, revoked ones too."""
    command = [str(Path(sys.executable).parent / "gear-api"), "token", "list", "--json"]
    listed: list[dict[str, Any]] = json.loads(subprocess.check_output(command, cwd=folder, env=demo.environment))
    return listed


def test_a_catalogue_that_is_not_the_demos_is_left_as_it_is(demo: Demo, tmp_path: Path) -> None:
    index = f"{demo.environment['GEAR_OPENSEARCH_URL']}/{demo.environment['GEAR_INDEX_PREFIX']}-730"
    body = {"query": {"term": {"bound": True}}}
    httpx.post(f"{index}/_update/40000000001?refresh=true", json={"doc": {"bound": True}}).raise_for_status()
    httpx.delete(f"{index}/_doc/40000000002?refresh=true").raise_for_status()
    before = httpx.post(f"{index}/_count", json=body).json()["count"]
    assert before > 0
    printed = elsewhere(demo, tmp_path)
    assert re.search("^not repaired: .* are hidden in .*; do: gear-api reconcile", printed, re.MULTILINE)
    assert httpx.post(f"{index}/_count", json=body).json()["count"] >= before


def readme_calls() -> list[tuple[str, dict[str, Any]]]:
    """The paths and bodies of the README's curl commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    calls = [shlex.split(line) for line in re.findall(r"^curl .*-d .*$", text, re.MULTILINE)]
    return [(words[2].removeprefix("http://127.0.0.1:8000"), json.loads(words[-1])) for words in calls]


def test_the_readmes_calls_work(demo: Demo) -> None:
    token = json.loads((demo.folder / "var/demo-token.json").read_text())["token"]
    headers = {"Authorization": f"Bearer {token}"}
    calls = readme_calls()
    assert [path for path, _ in calls] == ["/v1/gear/search", "/v1/gear"]
    for path, body in calls:
        response = httpx.post(demo.base + path, json=body, headers=headers, timeout=30)
        assert response.is_success, response.text


def test_a_second_demo_shows_an_item_of_the_users_own_that_has_no_float(demo: Demo) -> None:
    own = {"id": 1, "name": "AK-47 | Redline (Well-Worn)", "price": 1.5}
    item = {**own, "details": {"weapon": "AK-47", "exterior": "Well-Worn"}}
    upsert = [str(Path(sys.executable).with_name("gear-indexer")), "upsert", "-", "--platform", "730"]
    subprocess.run(upsert, input=json.dumps(item).encode(), cwd=demo.folder, env=demo.environment, check=True)
    assert re.search(r"^ +1\.50 USD +AK-47 \| Redline \(Well-Worn\)  \(id 1\)$", demo.run("start"), re.MULTILINE)
