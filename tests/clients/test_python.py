"""The Python client: it has every operation, and its types are those of the description."""

import inspect
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NotRequired, get_origin, get_type_hints, is_typeddict

import pytest
from gear_client import (
    AsyncGearClient,
    CallbackError,
    ConnectionFailedError,
    GearClient,
    GearError,
    models,
    verify_callback,
)
from standardwebhooks import Webhook

from tests.support.api.described_examples import ITEM
from tests.support.clients import LISTINGS, Service, description

PACKAGE = Path(__file__).parents[2] / "clients" / "python"
ORDER: Any = {"account": "shop-7", "email": "buyer@example.test", "platform": "730"}
OF_OPERATORS = {
    *("getMetrics", "getLiveness", "getReadiness", "getOperations"),
    *("listVocabulary", "addVocabulary", "removeVocabulary", "tryVocabulary", "listUnansweredSearches"),
}
SECRET = "whsec_" + "a" * 32


def test_each_client_has_every_operation_with_the_same_parameters() -> None:
    operations = [operation for path in description()["paths"].values() for operation in path.values()]
    for operation in {described["operationId"] for described in operations} - OF_OPERATORS:
        name = re.sub("([A-Z])", r"_\1", operation).lower()
        sync, later = getattr(GearClient, name), getattr(AsyncGearClient, name)
        assert inspect.signature(sync) == inspect.signature(later)
        assert sync.__doc__ == later.__doc__


def test_the_types_are_those_of_the_description() -> None:
    schemas = description()["components"]["schemas"]
    types = {name: each for name, each in vars(models).items() if is_typeddict(each)}
    objects = {name: schema for name, schema in schemas.items() if schema.get("type") == "object"}
    assert types.keys() == objects.keys(), "run `make clients`"
    for name, schema in objects.items():
        hints = get_type_hints(types[name], include_extras=True)
        assert hints.keys() == schema.get("properties", {}).keys(), f"{name}: run `make clients`"
        required = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
        assert required == set(schema.get("required", [])), f"{name}: run `make clients`"


def test_the_example_of_the_readme_runs(service: Service) -> None:
    (example, *_) = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.DOTALL)
    environment = {**service.environment, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-c", example]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    *hits, listings, state, code = ran.stdout.splitlines()
    assert (len(hits), listings, state, code) == (3, f"{LISTINGS + 1} listings", "created", "item_not_found")


def test_every_hit_is_read_page_after_page(service: Service) -> None:
    with GearClient(service.url, service.token) as gear:
        ids = [item["id"] for item in gear.search_all(platform=730, sort="price_asc", limit=100)]
    assert sorted(ids) == sorted([ITEM["id"], *range(1, LISTINGS + 1)])


async def test_the_async_client_answers_as_the_other(service: Service) -> None:
    async with AsyncGearClient(service.url, service.token) as gear:
        assert (await gear.search(query="redline"))["total"] == LISTINGS + 1
        assert len([item["id"] async for item in gear.search_all(query="redline")]) == LISTINGS + 1
        order = (await gear.order_item(item="-10", **ORDER))["order"]
        assert (await gear.get_order(order["id"]))["order"]["account"] == "shop-7"
        assert [listed["id"] for listed in (await gear.list_orders(limit=5))["orders"]] == [order["id"]]
        with pytest.raises(GearError) as refused:
            await gear.search(limit=1000)
        assert (refused.value.status, refused.value.code) == (422, "validation_failed")
        assert refused.value.details[0]["field"] == "limit"
        assert refused.value.request_id


async def test_items_are_written_and_deleted(service: Service) -> None:
    item = {"id": 9000, "name": "AWP | Asiimov (Field-Tested)", "price": 98.5, "changedAt": "2026-01-01T00:00:00Z"}
    with GearClient(service.url, service.writer) as gear:
        assert gear.put_items(730, [item, {"id": 9001}], visible=True)["refused"][0]["field"] == "name"
        assert [hit["id"] for hit in gear.search(query="asiimov")["gear"]] == [9000]
    async with AsyncGearClient(service.url, service.writer) as gear_async:
        deleted = await gear_async.delete_items("cs2", ids=[9000], changedAt="2026-01-02T00:00:00Z", visible=True)
        assert (deleted["written"], (await gear_async.search(query="asiimov"))["total"]) == (1, 0)
        assert (await gear_async.put_items(730, [item]))["superseded"] == 1


def test_changes_are_followed_from_a_bookmark(service: Service) -> None:
    with GearClient(service.url, service.writer) as gear:
        bookmark = gear.list_changes(platform=730)["next"]
        gear.put_items(730, [{"id": number, "name": f"AWP | {number}"} for number in (9000, 9001)])
        pages = gear.follow_changes(platform=730, since=bookmark, limit=1)
        changes: list[tuple[int, str]] = []
        while len(changes) < 2:
            changes += [(change["id"], change["change"]) for change in next(pages)["changes"]]
    assert sorted(changes) == [(9000, "listed"), (9001, "listed")]


async def test_changes_are_followed_by_the_async_client_too(service: Service) -> None:
    async with AsyncGearClient(service.url, service.writer) as gear:
        bookmark = (await gear.list_changes(query="asiimov"))["next"]
        await gear.put_items(730, [{"id": 9000, "name": "AWP | Asiimov"}, {"id": 9001, "name": "AWP"}])
        async for page in gear.follow_changes(query="asiimov", since=bookmark):
            if page["changes"]:
                assert [change["id"] for change in page["changes"]] == [9000]
                return


@pytest.mark.parametrize("service", [{"rate_limit": "1 per 3 seconds"}], indirect=True)
def test_a_refusal_that_passes_is_waited_for(service: Service) -> None:
    def search_until_refused(gear: GearClient) -> None:
        while True:
            gear.search()

    with GearClient(service.url, service.token, attempts=1) as gear, pytest.raises(GearError, match="rate_limited"):
        search_until_refused(gear)
    with GearClient(service.url, service.token) as gear:
        assert gear.search()["total"] == LISTINGS + 1


def test_a_service_that_cannot_be_reached_raises_an_error_of_its_own() -> None:
    with (
        GearClient("http://127.0.0.1:1", "t", attempts=1) as gear,
        pytest.raises(ConnectionFailedError, match="Connect"),
    ):
        gear.list_platforms()


class Maintenance(BaseHTTPRequestHandler):
    """A page for people, with the status of a success."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>back soon</html>")

    def log_message(self, *_: object) -> None:
        """Stays silent."""


def test_a_page_of_a_proxy_is_no_response_of_the_service() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Maintenance) as proxy:
        Thread(target=proxy.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{proxy.server_port}"
            with GearClient(url, "t", attempts=1) as gear, pytest.raises(ConnectionFailedError, match="back soon"):
                gear.list_platforms()
        finally:
            proxy.shutdown()


def test_a_callback_is_verified_with_headers_in_any_case() -> None:
    now, body = datetime.now(UTC), json.dumps({"type": "order.created", "data": {}})
    headers = {"Webhook-Id": "m", "Webhook-Timestamp": str(int(now.timestamp()))}
    signed = {**headers, "Webhook-Signature": Webhook(SECRET).sign("m", now, body)}
    assert verify_callback(body.encode(), signed, SECRET)["type"] == "order.created"
    with pytest.raises(CallbackError):
        verify_callback(body.encode() + b" ", signed, SECRET)
