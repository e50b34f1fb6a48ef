"""Metrics: what was answered and what waits can be read by Prometheus, from one worker or from all together."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strictly_parsed

from api.settings import Settings
from tests.support.api.exposition import samples
from tests.support.api.waiting import until
from tests.support.app import RunningApp, running, settings_for

START_LIMIT = 120.0  # seconds: a busy machine takes long to start two workers
BACKLOGS = ("gear_index_sync_pending", "gear_callbacks_overdue", "gear_callbacks_overdue_seconds")


def requests_of(text: str, route: str, status: int) -> float:
    """How many requests of a route were answered with this status."""
    wanted = {("route", route), ("status", str(status))}
    found = samples(text)
    return sum(value for (name, labels), value in found.items() if name == "gear_requests_total" and wanted <= labels)


async def test_requests_are_counted_by_route_and_status(app: RunningApp) -> None:
    counted = [("/v1/gear/search", 200), ("/v1/gear/search", 422), ("none", 404)]
    before = (await app.client.get("/metrics")).text
    await app.search({})
    await app.search({"limit": 0})
    await app.client.get("/nowhere/secret-path")
    text = (await app.client.get("/metrics")).text
    assert [requests_of(text, *one) - requests_of(before, *one) for one in counted] == [1, 1, 1]
    assert "secret-path" not in text
    assert any(name == "gear_request_seconds_count" for name, _ in samples(text))


async def test_what_waits_in_the_store_is_shown(app: RunningApp) -> None:
    text = (await app.client.get("/metrics")).text
    for name in BACKLOGS:
        assert samples(text)[name, frozenset()] == 0
    assert samples(text)["gear_store_up", frozenset()] == 1
    failed = {labels: value for (name, labels), value in samples(text).items() if name == "gear_callbacks_failed_total"}
    assert set(failed.values()) == {0}
    assert {(label, token_id[:4]) for [(label, token_id)] in failed} == {("token", "tok_")}


async def test_a_scraper_gets_the_format_that_it_asks_for(app: RunningApp) -> None:
    plain = await app.client.get("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=")
    open_metrics = await app.client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert re.findall(r"^# EOF$", open_metrics.text, re.MULTILINE) == ["# EOF"]
    assert open_metrics.text.endswith("# EOF\n")


@contextmanager
def two_workers(settings: Settings, folder: Path) -> Iterator[tuple[str, int]]:
    """`gear-api serve --workers 2` with these settings; its address and process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "GEAR_DATABASE_URL": settings.database_url,
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
    }
    command = [str(Path(sys.executable).with_name("gear-api")), "serve", "--workers", "2", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        service = subprocess.Popen(command, env=environment, stderr=log, cwd=folder)
    try:
        yield f"http://127.0.0.1:{port}", service.pid
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(30)


def check_exposition(plain: str, strict: str) -> None:
    """What Prometheus would refuse or complain about: a metric told twice, samples that clash, units."""
    assert strict.endswith("# EOF\n")
    names = [family.name for family in strictly_parsed(strict)]  # type: ignore[no-untyped-call]  # it is untyped
    assert len(names) == len(set(names))
    if promtool := shutil.which("promtool"):
        command = [promtool, "check", "metrics"]
        checked = subprocess.run(command, input=plain, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


async def test_what_is_reported_is_what_prometheus_takes(app: RunningApp) -> None:
    await app.search({})
    open_metrics = {"Accept": "application/openmetrics-text; version=1.0.0"}
    strict = (await app.client.get("/metrics", headers=open_metrics)).text
    check_exposition((await app.client.get("/metrics")).text, strict)


async def test_metrics_are_reported_without_the_store_and_the_engine(tmp_path: Path) -> None:
    async with running(settings_for("http://127.0.0.1:1", "t", tmp_path)) as app:
        (await app.client.get("/metrics")).raise_for_status()  # the token is known from now on
        (tmp_path / "gear.db").rename(tmp_path / "away.db")
        text = (await app.client.get("/metrics")).raise_for_status().text
        assert samples(text)["gear_store_up", frozenset()] == 0
        assert not [name for name, _ in samples(text) if name in BACKLOGS], "what is not known is not told"
        assert requests_of(text, "/metrics", 200) == 1
        (tmp_path / "away.db").rename(tmp_path / "gear.db")
        assert samples((await app.client.get("/metrics")).text)["gear_store_up", frozenset()] == 1


async def test_each_worker_tells_for_all_also_for_one_that_was_killed(app: RunningApp, tmp_path: Path) -> None:
    with two_workers(app.settings, tmp_path) as (address, service):

        async def answer(path: str, accept: str = "*/*") -> str:
            # a connection each, so that both workers get some
            headers = {"Authorization": f"Bearer {app.token}", "Accept": accept}
            async with httpx.AsyncClient(base_url=address, headers=headers) as client:
                return (await client.get(path)).raise_for_status().text

        async def answered() -> bool:
            try:
                await answer("/health/live")
            except httpx.TransportError:
                return False
            return True

        await until(answered, START_LIMIT)
        for _ in range(20):
            assert await answered()
        assert requests_of(await answer("/metrics"), "/health/live", 200) == 21
        worker = next(one for one in psutil.Process(service).children() if "spawn_main" in " ".join(one.cmdline()))
        worker.kill()
        worker.wait()
        await until(answered, START_LIMIT)
        text = await answer("/metrics")
        check_exposition(text, await answer("/metrics", "application/openmetrics-text; version=1.0.0"))
        assert requests_of(text, "/health/live", 200) >= 21, "what the dead worker counted stays"
        for name in BACKLOGS:
            assert [labels for found, labels in samples(text) if found == name] == [frozenset()]
