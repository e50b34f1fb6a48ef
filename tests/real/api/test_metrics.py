"""Metrics: what was answered and what waits can be read by Prometheus, from one worker or from all together."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from api.settings import Settings
from tests.support.api.waiting import until
from tests.support.app import RunningApp

Sample = tuple[str, frozenset[tuple[str, str]]]


def samples(text: str) -> dict[Sample, float]:
    """Every sample of an exposition by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


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
    for name in ("gear_index_sync_pending", "gear_callbacks_overdue", "gear_callbacks_overdue_seconds"):
        assert samples(text)[name, frozenset()] == 0


async def test_a_scraper_gets_the_format_that_it_asks_for(app: RunningApp) -> None:
    plain = await app.client.get("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=")
    open_metrics = await app.client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text")
    assert re.findall(r"^# EOF$", open_metrics.text, re.MULTILINE) == ["# EOF"]
    assert open_metrics.text.endswith("# EOF\n")


@contextmanager
def two_workers(settings: Settings, folder: Path) -> Iterator[str]:
    """`gear-api serve --workers 2` with these settings; its address."""
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
        yield f"http://127.0.0.1:{port}"
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(30)


async def test_each_worker_tells_for_all(app: RunningApp, tmp_path: Path) -> None:
    with two_workers(app.settings, tmp_path) as address:

        async def answered() -> bool:
            try:
                # a connection each, so that both workers get some
                async with httpx.AsyncClient(base_url=address) as client:
                    return (await client.get("/health/live")).status_code == 200
            except httpx.TransportError:
                return False

        await until(answered)
        for _ in range(20):
            assert await answered()
        headers = {"Authorization": f"Bearer {app.token}"}
        async with httpx.AsyncClient(base_url=address, headers=headers) as client:
            text = (await client.get("/metrics")).text
    assert requests_of(text, "/health/live", 200) == 21
