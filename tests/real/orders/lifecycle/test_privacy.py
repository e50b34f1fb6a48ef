"""Personal data: they leave the service by its answers alone, never by a log, and are erased when that is due."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from api.background.failing_rows import FailingRows
from api.orders.erasure import forget_account
from api.retention import apply_retention
from api.settings import Settings
from store.auth import tokens
from store.connection.engine import Store
from store.orders import privacy
from tests.support.api.described_examples import ORDER_BODIES
from tests.support.api.waiting import until
from tests.support.app import new_token
from tests.support.orders.calls import move
from tests.support.orders.processes import worker
from tests.support.orders.shop import Shop
from tests.support.store.migrated import migrated

EVERYTHING = {**ORDER_BODIES["all"], "account": "personal-account", "email": "personal@example.com"}


@asynccontextmanager
async def without_a_column(database_url: str) -> AsyncIterator[None]:
    """The database lacks a column of the orders while the block lasts."""
    store = Store(database_url)
    async with store.transaction() as connection:
        await connection.execute(text("ALTER TABLE orders RENAME COLUMN account TO hidden"))
    yield
    async with store.transaction() as connection:
        await connection.execute(text("ALTER TABLE orders RENAME COLUMN hidden TO account"))
    await store.close()


async def test_no_log_of_a_full_run_has_personal_data_or_secrets(settings: Settings, tmp_path: Path) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order", "fulfil", "search")
    async with worker(settings, tmp_path, token) as running:
        client = running.client
        headers = {"Idempotency-Key": "personal-key"}
        placed = await client.post("/v1/gear", json=EVERYTHING, headers=headers)
        assert placed.status_code == 201, placed.text
        order = placed.json()["order"]
        for wrong in (
            {"email": "personal@"},
            {"account": "personal-account" * 20},
            {"callbackUrl": "https://personal-host.example:0/"},
            {"additionalFields": {"tradeLink": "https://personal-host.example/?token=personal"}},
            {"item": "personal-item"},
        ):
            assert (await client.post("/v1/gear", json={**EVERYTHING, **wrong})).status_code in (404, 409, 422)
        await client.post("/v1/gear", json=EVERYTHING, headers=headers)
        await client.get("/v1/orders?account=personal-account")
        await client.get("/v1/orders?account=personal-account&unknown=personal-value")
        await client.get(order["statusUrl"].removeprefix("http://gear.test"))
        reason = {"to": "cancelled", "reason": "personal-reason"}
        assert (await client.post(f"/v1/orders/{order['id']}/transitions", json=reason)).status_code == 200
        async with without_a_column(settings.database_url):  # whatever the service does now is a fault to log
            faults = [await client.post("/v1/gear", json=EVERYTHING), await client.get(f"/v1/orders/{order['id']}")]
        assert {response.status_code for response in faults} <= {500, 503}
    written = running.process.written.read_text(encoding="utf-8")
    assert written.count("/v1/gear") > 5
    links = EVERYTHING["additionalFields"]
    # the host of a callback is logged with each attempt, its address is not
    secrets = ["personal", "/hooks/gear", "/thanks", *links.values(), token, order["statusUrl"].rsplit("/", 1)[1]]
    store = Store(settings.database_url)
    async with store.reading() as connection:
        secrets += [stored.webhook_secret for stored in await tokens.list_all(connection)]
    await store.close()
    assert [secret for secret in secrets if secret in written] == []


async def test_the_setting_erases_them_after_its_days(shop: Shop) -> None:
    placed = await shop.app.client.post("/v1/gear", json=EVERYTHING)
    order = placed.json()["order"]
    assert (await move(shop, order["id"], "failed")).status_code == 200
    now = datetime.now(UTC)
    await apply_retention(shop.store, now + timedelta(days=400), None, FailingRows("test"))
    await apply_retention(shop.store, now + timedelta(days=29), 30, FailingRows("test"))
    await apply_retention(shop.store, now - timedelta(days=400), 30, FailingRows("test"))
    assert (await shop.get(f"/v1/orders/{order['id']}")).json()["order"]["account"] == "personal-account"

    async def erased() -> bool:  # an order whose callback is being noted is left to the next round
        await apply_retention(shop.store, now + timedelta(days=31), 30, FailingRows("test"))
        return bool((await shop.get(f"/v1/orders/{order['id']}")).json()["order"]["account"] == "")

    await until(erased, otherwise="they are still there")
    after = (await shop.get(f"/v1/orders/{order['id']}")).json()["order"]
    assert {**after, "history": None} == {
        **order,
        "account": "",
        "code": None,
        "state": "failed",
        "updatedAt": after["updatedAt"],
        "history": None,
    }
    page = await shop.get(order["statusUrl"].removeprefix("http://gear.test"))
    assert page.status_code == 200
    assert (await shop.get("/v1/orders?account=personal-account")).json()["orders"] == []


async def test_a_retry_after_forgetting_orders_nothing_again(shop: Shop) -> None:
    headers = {"Idempotency-Key": "k"}
    first = (await shop.app.client.post("/v1/gear", json=EVERYTHING, headers=headers)).json()["order"]
    assert (await move(shop, first["id"], "failed")).status_code == 200
    async with shop.store.reading() as connection:
        owners = await privacy.owners(connection, "personal-account")
    erasure = await forget_account(shop.store, "personal-account", list(owners), lambda _: None)
    assert erasure.erased == [first["id"]]
    again = await shop.app.client.post("/v1/gear", json=EVERYTHING, headers=headers)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    assert again.json()["order"] == {**first, "account": "", "code": None}
    assert len((await shop.get("/v1/orders")).json()["orders"]) == 1
