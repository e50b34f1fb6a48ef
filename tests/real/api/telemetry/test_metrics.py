"""Metrics: what was answered and what waits can be read by Prometheus, from one worker or from all together."""

import re
from importlib.metadata import version
from pathlib import Path
from time import time

from tests.support.api.catalogue import LEAST
from tests.support.api.exposition import samples
from tests.support.api.metrics import BACKLOGS, check_exposition, requests_of, total
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token, running, settings_for


async def test_requests_are_counted_by_route_and_status(app: RunningApp) -> None:
    counted = [("/v1/gear/search", 200), ("/v1/gear/search", 422), ("none", 404), ("none", 405)]
    before = (await app.client.get("/metrics")).text
    await app.search({})
    await app.search({"limit": 0})
    await app.client.get("/nowhere/secret-path")
    await app.client.request("MKCOL", "/v1/gear/search")
    text = (await app.client.get("/metrics")).text
    assert [requests_of(text, *labels) - requests_of(before, *labels) for labels in counted] == [1, 1, 1, 1]
    assert "secret-path" not in text
    assert "MKCOL" not in text
    assert any(name == "gear_http_request_duration_seconds_count" for name, _ in samples(text))


async def test_time_is_measured_for_engine_store_and_waits(app: RunningApp) -> None:
    before = (await app.client.get("/metrics")).text
    await app.search({"query": "redline", "limit": 3})
    order = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": "404404"}
    assert (await app.client.post("/v1/gear", json=order)).status_code == 404
    text = (await app.client.get("/metrics")).text

    def added(name: str, **labels: str) -> float:
        return total(text, name, **labels) - total(before, name, **labels)

    assert added("gear_engine_request_duration_seconds_count", outcome="ok") >= 2
    assert added("gear_engine_request_duration_seconds_count", operation="mget", outcome="ok") >= 1
    assert added("gear_engine_pool_wait_seconds_count", pool="search") >= 1
    assert added("gear_engine_pool_wait_seconds_count", pool="order") >= 1
    assert added("gear_store_transaction_duration_seconds_count", kind="read") >= 1
    assert added("gear_store_pool_wait_seconds_count", kind="read") >= 1


async def test_the_serving_index_and_the_version_are_metrics(app: RunningApp) -> None:
    text = (await app.client.get("/metrics")).text
    (labels,) = [dict(labels) for name, labels in samples(text) if name == "gear_index_info"]
    assert labels["index"].startswith(f"{app.settings.index_prefix}-730-")
    assert labels["index"].endswith(labels["fingerprint"])
    assert 0 < time() - samples(text)["gear_index_created_timestamp_seconds", frozenset({("platform", "730")})] < 3600
    assert [dict(labels) for name, labels in samples(text) if name == "gear_build_info"] == [
        {"version": version("gear")}
    ]


def _limited(text: str) -> set[str]:
    """The tokens of which requests were refused."""
    return {
        dict(labels)["token"]
        for (name, labels), value in samples(text).items()
        if name == "gear_rate_limited_requests_total" and value and ("limit", "token") in labels
    }


async def test_limits_are_counted_by_token_without_its_secret(app: RunningApp) -> None:
    secret = await new_token(app.settings.database_url, "search", rate_limit=1)
    headers = {"Authorization": f"Bearer {secret}"}
    before = _limited((await app.client.get("/metrics")).text)
    codes = {(await app.client.get("/v1/platforms", headers=headers)).status_code for _ in range(3)}
    assert codes == {200, 429}
    text = (await app.client.get("/metrics")).text
    (token,) = _limited(text) - before
    assert token.startswith("tok_")
    assert total(text, "gear_rate_limit_cost_total", token=token) == 3
    assert secret not in text


async def test_orders_are_counted_by_the_states_that_they_reach(app: RunningApp) -> None:
    order = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": str(LEAST)}
    before = (await app.client.get("/metrics")).text
    placed = (await app.client.post("/v1/gear", json=order)).json()["order"]["id"]
    (await app.client.post(f"/v1/orders/{placed}/transitions", json={"to": "cancelled"})).raise_for_status()

    async def published() -> bool:
        return total((await app.client.get("/metrics")).text, "gear_index_sync_pending") == 0

    await until(published)
    text = (await app.client.get("/metrics")).text
    added = {
        state: total(text, "gear_order_transitions_total", state=state)
        - total(before, "gear_order_transitions_total", state=state)
        for state in ("created", "cancelled")
    }
    assert added == {"created": 1, "cancelled": 1}


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
