"""Items put and deleted over HTTP: what holds after it, on every worker, and what is refused."""

import asyncio
import gzip
import io
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import zstandard
from structlog.testing import capture_logs

from api.background.tasks import StopDeadline
from api.catalogue import body
from api.catalogue.service import ACTION
from api.catalogue.writers import CatalogueWriters
from api.errors import ApiError
from indexer.live.writer import LiveWriter
from store import audit
from store.connection.engine import Store
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.exposition import samples
from tests.support.api.market import PATH, Market
from tests.support.app import running, settings_for

MANY = 8  # requests, so that both workers get some
COUNTER = "gear_catalogue_items_total"
NDJSON = {"Content-Type": "application/x-ndjson"}


def row(number: int, name: str = "AWP | Asiimov", **more: Any) -> dict[str, Any]:
    return {"id": number, "name": name, "price": 5, **more}


def at(seconds: float) -> str:
    """So many seconds from now."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def names_of(market: Market, number: int) -> list[str]:
    """What searches on both workers show of an item."""
    responses = [
        market.request("POST", "/v1/gear/search", json={"platform": 730, "filters": {"ids": [number]}})
        for _ in range(MANY)
    ]
    names = {tuple(gear["name"] for gear in response.json()["gear"]) for response in responses}
    assert len(names) == 1, "the workers disagree"
    return [*names.pop()]


def test_what_is_written_visibly_is_shown_by_every_worker_at_once(market: Market) -> None:
    for name in ("first", "second"):
        assert market.put([row(1001, name)]) == {"status": "success", "written": 1, "superseded": 0, "refused": []}
        assert names_of(market, 1001) == [name]
    assert market.delete([1001, 1002]) == {"status": "success", "written": 2, "superseded": 0, "refused": []}
    assert names_of(market, 1001) == []


def test_the_same_call_again_changes_nothing(market: Market) -> None:
    old = row(1011, changedAt=at(-0.4))
    new = row(1011, "new", changedAt=at(-0.2))
    assert [market.put([item])["written"] for item in (new, new)] == [1, 1]
    assert market.put([old])["superseded"] == 1
    assert market.put([old, new])["superseded"] == 1, "in one request too"
    assert names_of(market, 1011) == ["new"]
    deleted_at = at(0)
    assert market.delete([1011], changedAt=deleted_at)["written"] == 1
    assert market.delete([1011], changedAt=deleted_at)["written"] == 1
    assert market.put([new])["superseded"] == 1
    assert names_of(market, 1011) == []


def test_items_are_refused_by_line_with_their_reasons_and_all_others_are_written(market: Market) -> None:
    text = (
        b'{"id": 1021, "name": "a"}\n\n{"id": 1022}\n{"id": "x", "nam": 1}\nno\n{"id": 1023, "name": "b", "price": -1}'
    )
    response = market.request("PUT", PATH, content=text, headers=NDJSON).json()
    assert (response["written"], response["superseded"]) == (1, 0)
    assert [(entry["line"], entry["id"], entry["field"]) for entry in response["refused"]] == [
        (3, 1022, "name"),
        (4, None, "id"),
        (5, None, None),
        (6, 1023, "price"),
    ]
    assert "nam: Extra inputs are not permitted" in response["refused"][1]["reason"]
    assert [entry["line"] for entry in market.put([row(1024), {}])["refused"]] == [1]


def test_a_time_ahead_is_refused_with_the_limit(market: Market) -> None:
    late = market.put([row(1031, changedAt=at(60)), row(1032, changedAt=at(1)), row(1033, changedAt="yesterday")])
    assert late["written"] == 1
    assert [(entry["id"], entry["field"]) for entry in late["refused"]] == [(1031, "changedAt"), (1033, "changedAt")]
    assert late["refused"][0]["reason"] == "must be at most 5 seconds ahead of the clock here"
    for changed in (at(60), "yesterday"):
        response = market.request("DELETE", PATH, json={"ids": [1], "changedAt": changed})
        assert fields_of(response, "validation_failed") == ["changedAt"]


def test_bodies_come_in_each_form(market: Market) -> None:
    array, text = orjson.dumps([row(1041), row(1042)]), orjson.dumps(row(1043))
    unknown_size = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(unknown_size, closefd=False) as stream:
        stream.write(array)
    several_frames = zstandard.compress(array[:9]) + zstandard.compress(array[9:])
    for content, headers in [
        (array, {"Content-Type": "application/json; charset=utf-8"}),
        (gzip.compress(array), {"Content-Type": "application/json", "Content-Encoding": "gzip"}),
        (zstandard.compress(array), {"Content-Type": "application/json", "Content-Encoding": "ZSTD"}),
        (unknown_size.getvalue(), {"Content-Type": "application/json", "Content-Encoding": "zstd"}),
        (several_frames, {"Content-Type": "application/json", "Content-Encoding": "zstd"}),
        (text, NDJSON),
    ]:
        response = market.request("PUT", PATH, content=content, headers=headers)
        assert (response.status_code, response.json()["refused"]) == (200, []), response.text


def test_bodies_that_are_no_list_of_items_change_nothing(market: Market) -> None:
    def put(content: bytes, encoding: str = "identity", **headers: str) -> Any:
        sent = {"Content-Type": "application/json", "Content-Encoding": encoding, **headers}
        return market.request("PUT", PATH, content=content, headers=sent)

    array = orjson.dumps([row(1051)])
    for content in (b"", b" \n", array[:-1], array + b"]", b"[nope", b"["):
        error_of(put(content), "invalid_json")
    error_of(put(gzip.compress(array)[:-9], "gzip"), "invalid_json")
    error_of(put(zstandard.compress(array)[:-3], "zstd"), "invalid_json")
    error_of(put(zstandard.compress(array) + b"more", "zstd"), "invalid_json")
    error_of(put(array, "gzip"), "invalid_json")
    assert fields_of(put(b'{"id": 1}'), "validation_failed") == ["items"]
    assert fields_of(put(orjson.dumps([row(1051)] * 5_001)), "validation_failed") == ["items"]
    error_of(put(array, "br"), "unsupported_media_type")
    error_of(put(array, **{"Content-Type": "text/csv"}), "unsupported_media_type")
    nothing = b" " * (body.MAX_BODY_BYTES + 1)
    for bomb, encoding in [
        (gzip.compress(nothing), "gzip"),
        (zstandard.compress(nothing), "zstd"),
        (nothing, "identity"),
    ]:
        assert "8,388,608 bytes" in error_of(put(bomb, encoding), "body_too_large")["message"]
    assert 1051 not in market.names()
    error_of(market.request("PUT", "/v1/catalogue/dota/items", json=[]), "unknown_platform")
    assert fields_of(market.request("DELETE", PATH, json={"ids": []}), "validation_failed") == ["ids"]
    assert fields_of(market.request("DELETE", PATH, json={"ids": [1.5]}), "validation_failed") == ["ids.0"]


def test_five_thousand_items_fit_in_one_request(market: Market) -> None:
    rows = [row(number) for number in range(10_000, 15_000)]
    assert market.put(rows)["written"] == 5_000
    assert market.delete([number["id"] for number in rows])["written"] == 5_000


def test_what_an_order_binds_stays_bound(market: Market) -> None:
    market.put([row(1061), row(1062)])
    order = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": "1061"}
    assert market.request("POST", "/v1/gear", json=order).status_code == 201
    market.put([row(1061, "cheaper", price=1), row(1062, "cheaper", price=1)])
    assert (names_of(market, 1061), names_of(market, 1062)) == ([], ["cheaper"])


async def test_writes_are_counted_charged_and_in_the_audit(
    opensearch_url: str, index_prefix: str, tmp_path: Any
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path, rate_limit="10/minute")
    put_index(settings, CS2, [simple_item(1)])
    async with running(settings) as app:
        response = await app.client.put(PATH, json=[*(row(number) for number in range(301)), {}])
        assert response.status_code == 200
        assert response.headers["RateLimit-Remaining"] == "6", "302 items cost 4"
        assert (await app.client.request("DELETE", PATH, json={"ids": [1, 2]})).json()["written"] == 2
        error_of(await app.client.put(PATH, json=[row(number) for number in range(1000)]), "rate_limited")
        text = (await app.client.get("/metrics")).raise_for_status().text
        items = {dict(labels)["result"]: value for (name, labels), value in samples(text).items() if name == COUNTER}
        assert items == {"written": 303, "superseded": 0, "refused": 1}
    store = Store(settings.database_url)
    async with store.reading() as connection:
        entries = await audit.entries(connection, datetime(2020, 1, 1, tzinfo=UTC), None, 100)
    await store.close()
    written = [entry for entry in entries if entry.action == ACTION]  # a period may have ended between the two
    total: Counter[str] = Counter()
    for entry in written:
        total.update(entry.details)
    assert total == Counter({"put": 301, "delete": 2, "superseded": 0, "refused": 1, "requests": 2})
    assert {entry.subject for entry in written} == {"cs2"}
    assert all(entry.actor is not None and entry.actor.id.startswith("tok_") for entry in written)


async def test_without_the_engine_or_a_loaded_platform_a_write_is_a_503(
    opensearch_url: str, index_prefix: str, tmp_path: Any
) -> None:
    for url, message in (("http://127.0.0.1:1", "gave up"), (opensearch_url, "nothing is loaded")):
        settings = settings_for(url, index_prefix, tmp_path)
        store = Store(settings.database_url)
        writers = CatalogueWriters(settings, store, retry_seconds=0.1)
        with pytest.raises(ApiError, match=message) as refused:
            await writers.run(CS2, LiveWriter.check)
        assert refused.value.code == "search_unavailable"
        await writers.close()
        await store.close()


async def test_a_write_that_hangs_holds_the_end_up_for_a_bounded_time(tmp_path: Any) -> None:
    settings = settings_for("http://127.0.0.1:1", "gear-test", tmp_path)
    store = Store(settings.database_url)
    writers = CatalogueWriters(settings, store)
    started, released = threading.Event(), threading.Event()

    def hang(_: LiveWriter) -> bool:
        started.set()
        return released.wait(60)

    write = asyncio.create_task(writers.run(CS2, hang))
    try:
        assert await asyncio.to_thread(started.wait, 30)
        write.cancel()  # its client has gone: the thread goes on
        with capture_logs() as logs:
            async with asyncio.timeout(30):
                await StopDeadline(0.01, 0.01).close(writers.close)
        assert [entry["event"] for entry in logs] == ["writes of the catalogue do not end"]
    finally:
        released.set()
        await store.close()
