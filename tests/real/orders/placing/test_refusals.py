"""Refusals: what cannot be ordered is answered with the one envelope, the code and the field, and nothing is bound."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from store.auth import tokens
from tests.support.api.described_examples import ORDER_BODIES
from tests.support.api.envelope import error_of
from tests.support.app import settings_for
from tests.support.indices import drop_indices
from tests.support.orders.shop import KNIFE, LARGEST, PRICELESS, Shop, bearer, load, opened
from tests.support.store.postgres import Postgres

OWNER = "76561198000000001"
LINK = "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=aBc-_123"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
async def refusing_shop(
    request: pytest.FixtureRequest, opensearch_url: str, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Shop]:
    """A running app on each database that refuses everything; its item can still be ordered afterwards."""
    more = {"database_url": await postgres.new_database("refusals")} if request.param == "postgresql" else {}
    prefix = f"t{secrets.token_hex(5)}"
    folder = tmp_path_factory.mktemp("refusals")
    settings = settings_for(opensearch_url, prefix, folder, fee_rate="0.05", **more)
    try:
        await load(settings)
        async with opened(settings) as shop:
            yield shop
            assert (await shop.order()).status_code == 201
    finally:
        drop_indices(opensearch_url, prefix)


@pytest.mark.parametrize(
    ("fields", "code", "named"),
    [
        ({"platform": "tf2"}, "unknown_platform", ["platform"]),
        ({"platform": "0730"}, "unknown_platform", ["platform"]),
        ({"platform": "CS2"}, "unknown_platform", ["platform"]),
        ({"platform": "7" * 60_000}, "unknown_platform", ["platform"]),
        ({"platform": 730}, "validation_failed", ["platform"]),
        ({"item": KNIFE}, "validation_failed", ["item"]),
        ({"item": "\x00"}, "validation_failed", ["item"]),
        ({"email": "nobody"}, "validation_failed", ["email"]),
        ({"account": "a\x00b"}, "validation_failed", ["account"]),
        ({"fee": "none", "code": "x" * 65}, "validation_failed", ["code", "fee"]),
        ({"unknown": None}, "validation_failed", ["unknown"]),
        ({"additionalFields": {"tradeLink": "x"}}, "validation_failed", ["additionalFields.tradeLink"]),
        (
            {"additionalFields": {"platformId": OWNER, "tradeLink": LINK.replace("273&", "274&")}},
            "validation_failed",
            ["additionalFields.tradeLink"],
        ),
        ({"callbackUrl": "http://shop.example.com/hook"}, "validation_failed", ["callbackUrl"]),
        ({"callbackUrl": "https://127.1/hook"}, "validation_failed", ["callbackUrl"]),
        (
            {"successUrl": "https://[::1]/", "failureUrl": "https://localhost/", "callbackUrl": "https://u@x.example/"},
            "validation_failed",
            ["successUrl", "failureUrl", "callbackUrl"],
        ),
        ({"item": "1"}, "item_not_found", []),
        ({"item": ""}, "item_not_found", []),
        ({"item": "knife"}, "item_not_found", []),
        ({"item": "040000012345"}, "item_not_found", []),
        ({"item": "+40000012345"}, "item_not_found", []),
        ({"item": "40000012345.0"}, "item_not_found", []),
        ({"item": "９"}, "item_not_found", []),
        ({"item": str(2**63)}, "item_not_found", []),
        ({"item": "9" * 60_000}, "item_not_found", []),
        ({"item": "_search"}, "item_not_found", []),
        ({"item": str(PRICELESS)}, "item_unavailable", []),
        ({"expectedPrice": 21.39}, "price_changed", []),
        ({"expectedTotal": 21.4}, "price_changed", []),
        ({"maxPrice": 21.39}, "price_changed", []),
        ({"maxPrice": 30, "expectedPrice": 21.4}, "validation_failed", ["maxPrice"]),
        ({"maxPrice": -1}, "validation_failed", ["maxPrice"]),
        ({"maxPrice": "x"}, "validation_failed", ["maxPrice"]),
    ],
)
async def test_an_order_that_breaks_a_rule_is_refused(
    refusing_shop: Shop, fields: dict[str, Any], code: str, named: list[str]
) -> None:
    body = {**ORDER_BODIES["least"], **fields}
    response = await refusing_shop.app.client.post("/v1/gear", json=body)
    error = error_of(response)
    assert error["code"] == code
    assert [detail["field"] for detail in error["details"]] == named
    assert len(error["message"]) < 300
    assert (await refusing_shop.get("/v1/orders")).json()["orders"] == []


async def test_a_changed_price_is_reported(small_shop: Shop) -> None:
    error = error_of(await small_shop.order(expectedPrice=20))
    assert (error["code"], error["price"]) == ("price_changed", 21.4)
    assert (await small_shop.order(expectedPrice=error["price"])).status_code == 201


async def test_a_changed_total_is_refused(small_shop: Shop) -> None:
    error = error_of(await small_shop.order(expectedTotal=21.4))
    assert (error["code"], error["price"]) == ("price_changed", 21.4)
    assert "22.47" in error["message"]
    included: dict[str, Any] = {"fee": "included", "expectedTotal": 21.4, "expectedPrice": 21.4}
    assert (await small_shop.order(**included)).status_code == 201


async def test_a_price_up_to_the_highest_is_charged_as_it_is(small_shop: Shop) -> None:
    error = error_of(await small_shop.order(maxPrice=21.39))
    assert (error["code"], error["price"]) == ("price_changed", 21.4)
    order = (await small_shop.order(maxPrice=30)).json()["order"]
    assert order["amounts"]["price"] == 21.4
    assert (await small_shop.order(LARGEST, maxPrice=10**12)).status_code == 201


async def test_a_bound_item_is_refused(shop: Shop) -> None:
    await shop.placed()
    error = error_of(await shop.order(account="client-18"))
    assert error["code"] == "item_unavailable"
    assert "client-17" not in error["message"]


@dataclass(frozen=True)
class Sent:
    """A request that does not even get to the rules of ordering."""

    code: str
    method: str = "POST"
    path: str = "/v1/gear"
    content: bytes = b"{}"
    kind: str = "application/json"


@pytest.mark.parametrize(
    "sent",
    [
        Sent("invalid_json", content=b""),
        Sent("invalid_json", content=b"{"),
        Sent("invalid_json", content=b'{"account": "\\ud800"}'),
        Sent("invalid_json", content=b'{"expectedPrice": NaN}'),
        Sent("validation_failed", content=b"[]"),
        Sent("validation_failed"),
        Sent("validation_failed", path="/v1/gear?platform=730"),
        Sent("unsupported_media_type", kind="text/plain"),
        Sent("body_too_large", content=b" " * 65_537),
        Sent("method_not_allowed", method="PUT"),
        Sent("not_found", path="/v1/gear/"),
        Sent("method_not_allowed", path="/v1/orders"),
        Sent("method_not_allowed", path="/v1/orders/ord_1", method="DELETE"),
        Sent("order_not_found", path="/v1/orders/ord_1", method="GET"),
        Sent("order_not_found", path="/v1/orders/%00", method="GET"),
        Sent("order_not_found", path="/v1/orders/%ff%fe", method="GET"),
        Sent("order_not_found", path="/v1/orders/" + "x" * 5000, method="GET"),
        Sent("validation_failed", path="/v1/orders/ord_1?limit=1", method="GET"),
        Sent("order_not_found", path="/orders/" + "K" * 32, method="GET"),
        Sent("order_not_found", path="/orders/%00", method="GET"),
        Sent("validation_failed", path="/orders/x?utm_source=mail", method="GET"),
        Sent("method_not_allowed", path="/orders/x"),
    ],
    ids=lambda sent: f"{sent.method} {sent.path[:30]} {sent.code}",
)
async def test_every_refusal_is_the_envelope(refusing_shop: Shop, sent: Sent) -> None:
    headers = {"Content-Type": sent.kind}
    response = await refusing_shop.app.client.request(sent.method, sent.path, content=sent.content, headers=headers)
    assert error_of(response)["code"] == sent.code


async def test_scopes_decide_who_may_order_and_who_may_look(small_shop: Shop) -> None:
    nobody = await small_shop.app.client.post("/v1/gear", json={}, headers={"Authorization": "Bearer gear_unknown"})
    assert error_of(nobody)["code"] == "unauthorized"
    for scope in ("search", "fulfil", "metrics"):
        token = await small_shop.token(scope)
        assert error_of(await small_shop.order(token=token))["code"] == "forbidden"
    order = await small_shop.placed()
    for scope in ("search", "metrics"):
        token = await small_shop.token(scope)
        assert error_of(await small_shop.get(f"/v1/orders/{order['id']}", token))["code"] == "forbidden"


async def test_a_sandbox_token_binds_no_real_item(small_shop: Shop) -> None:
    async with small_shop.store.transaction() as connection:
        created = await tokens.create(connection, "trial", ["order", "search"], True, None, datetime.now(UTC))
    assert error_of(await small_shop.order(token=created.plaintext))["code"] == "item_not_found"
    assert (await small_shop.order()).status_code == 201


async def test_the_token_is_checked_before_the_body(small_shop: Shop) -> None:
    response = await small_shop.app.client.post("/v1/gear", content=b"{", headers=bearer("gear_unknown"))
    assert error_of(response)["code"] == "unauthorized"


async def test_development_may_use_http_and_its_own_network(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path, allow_insecure_callbacks=True)
    await load(settings)
    async with opened(settings) as shop:
        await shop.placed(callbackUrl="http://127.0.0.1:8080/hook", successUrl="http://localhost/")


async def test_an_order_outlives_the_file_of_its_platform(sqlite_settings: Settings, tmp_path: Path) -> None:
    async with opened(sqlite_settings) as shop:
        order, token = await shop.placed(), shop.app.token
    others = tmp_path / "platforms"
    others.mkdir()
    (others / "570.toml").write_text('id = 570\nslug = "dota2"\nname = "Dota 2"\ncurrency = "USD"\nminor_digits = 2\n')
    async with opened(sqlite_settings.model_copy(update={"platform_files": others})) as shop:
        assert error_of(await shop.get(f"/v1/orders/{order['id']}", token))["code"] == "internal"
    async with opened(sqlite_settings) as shop:
        assert (await shop.get(f"/v1/orders/{order['id']}", token)).status_code == 200
