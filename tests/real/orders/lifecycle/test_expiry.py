"""A reservation ends: an order that nobody moves on from `created` fails, and its item is on offer again."""

import asyncio
from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from api.background.failing_rows import FailingRows
from api.background.workers import running
from api.orders.expiry import BATCH, INTERVAL_SECONDS, MIN_INTERVAL_SECONDS, apply_expiry, expiry
from api.settings import Settings
from store.auth import tokens
from store.connection.engine import Store
from store.orders import batches, orders
from store.outbox import redelivery
from store.outbox.callbacks import lock_subjects
from store.schema import orders as orders_table
from tests.support.api.waiting import until
from tests.support.orders.desk import Desk, desk_at
from tests.support.orders.shop import FREE, KNIFE, LARGEST, Shop, opened
from tests.support.store.new_order import new_order

EXPIRY = timedelta(hours=24)


async def expire(store: Store, now: datetime, after: timedelta) -> tuple[int, float]:
    """Expires a batch; how many orders, and the seconds until the next."""
    expired, seconds = await apply_expiry(store, now, after, FailingRows("test"))
    return len(expired), seconds


async def test_an_order_that_stays_created_fails_by_itself_and_releases_its_item(settings: Settings) -> None:
    async with opened(settings.model_copy(update={"order_expiry": timedelta(seconds=1)})) as shop:
        order = await shop.placed(callbackUrl="https://shop.example/hook")

        async def failed() -> bool:
            return bool((await shop.get(f"/v1/orders/{order['id']}")).json()["order"]["state"] == "failed")

        await until(failed, otherwise="the order is still created")
        history = (await shop.get(f"/v1/orders/{order['id']}")).json()["order"]["history"]
        assert [(event["state"], event["reason"]) for event in history] == [("created", None), ("failed", "expired")]
        await shop.until_offered()
        async with shop.store.reading() as connection:
            assert len(await redelivery.of_order(connection, order["id"])) == 2, "no callback tells of the expiry"


async def test_what_was_moved_on_or_is_younger_does_not_expire(shop: Shop) -> None:
    old, taken, young = [await shop.placed(item) for item in (KNIFE, FREE, LARGEST)]
    await shop.move(taken["id"], "created", "processing")
    placed = datetime.fromisoformat(old["createdAt"])
    async with shop.store.transaction() as connection:
        earlier = "UPDATE orders SET created_at = created_at - 60000000 WHERE item <> :item"
        await connection.exec_driver_sql(earlier.replace(":item", str(LARGEST)))
    assert await expire(shop.store, placed + EXPIRY - timedelta(seconds=30), EXPIRY) == (1, 0.0)
    states = {item["id"]: item["state"] for item in (await shop.get("/v1/orders")).json()["orders"]}
    assert states == {old["id"]: "failed", taken["id"]: "processing", young["id"]: "created"}
    assert (await shop.order(KNIFE, account="somebody-else")).status_code == 201


async def test_the_next_run_is_when_the_next_order_is_due(desk: Desk) -> None:
    now = datetime.now(UTC)
    assert await expire(desk.store, now, EXPIRY) == (0, INTERVAL_SECONDS)
    assert await expire(desk.store, now, timedelta(seconds=5)) == (0, 5.0)
    order = await desk.place(None)
    assert await expire(desk.store, order.created_at, timedelta(seconds=30)) == (0, 30.0)
    at = order.created_at + timedelta(seconds=29.9)
    assert await expire(desk.store, at, timedelta(seconds=30)) == (0, MIN_INTERVAL_SECONDS)


async def test_more_orders_than_a_batch_expire_in_batches(desk: Desk) -> None:
    async with desk.store.transaction() as connection:
        for item in range(1, BATCH + 2):
            await orders.place(connection, new_order(desk.token.token.id, item), datetime.now(UTC))
    later = datetime.now(UTC) + EXPIRY
    assert [await expire(desk.store, later, EXPIRY) for _ in range(3)] == [
        (BATCH, 0.0),
        (1, 0.0),
        (0, INTERVAL_SECONDS),
    ]


async def test_of_an_expiry_and_a_move_one_wins(desk: Desk) -> None:
    """Workers and a fulfiller at once: each order ends one way, with one event, and every expiry is one of them."""
    placed = [await desk.place(None) for _ in range(30)]
    now = datetime.now(UTC) + EXPIRY

    async def take(order_id: str) -> bool:
        async with desk.store.transaction() as connection:
            return await orders.move(connection, order_id, ["created"], "processing", None, now) is not None

    taken, *expired = await asyncio.gather(
        asyncio.gather(*(take(order.id) for order in placed)),
        *(expire(desk.store, now, EXPIRY) for _ in range(3)),
    )
    async with desk.store.reading() as connection:
        for order, was_taken in zip(placed, taken, strict=True):
            states = [event.state for event in await orders.events(connection, order.id)]
            assert states == ["created", "processing" if was_taken else "failed"]
    assert sum(taken) + sum(count for count, _ in expired) == len(placed)


async def test_a_sandbox_order_expires_too_and_is_not_counted(desk: Desk) -> None:
    counted, woken = list[int](), asyncio.Event()
    async with desk.store.transaction() as connection:
        trial = await tokens.create(connection, "trial", ["order"], True, None, datetime.now(UTC))
        placed = [
            await orders.place(connection, new_order(trial.token.id, 1, sandbox=True), datetime.now(UTC) - EXPIRY),
            await orders.place(connection, new_order(desk.token.token.id, 1), datetime.now(UTC) - EXPIRY),
        ]
    async with asyncio.timeout(10), running(expiry(desk.store, EXPIRY, woken.set, counted.append)):
        await woken.wait()
    async with desk.store.reading() as connection:
        assert [(await orders.events(connection, order.id))[-1].state for order in placed] == ["failed", "failed"]
    assert counted == [1]


async def test_an_operator_cancels_the_orders_of_a_token_in_one_state(desk: Desk) -> None:
    mine = [await desk.place(None) for _ in range(5)]
    async with desk.store.transaction() as connection:
        other = await tokens.create(connection, "other", ["order"], False, None, datetime.now(UTC))
    theirs = await desk.place(None, other)
    await desk.move(mine[0], "processing")
    token_id, later = desk.token.token.id, datetime.now(UTC) + timedelta(seconds=1)
    async with desk.store.transaction() as connection:
        assert await batches.count(connection, token_id, "created", None) == 4
        assert await batches.count(connection, token_id, "created", "nobody") == 0
        first = await batches.cancel(
            connection, token_id, "created", None, "a bug", later, placed_before=later, limit=3
        )
    async with desk.store.transaction() as connection:
        rest = await batches.cancel(connection, token_id, "created", None, "a bug", later, placed_before=later, limit=3)
    assert (first, rest) == (3, 1)
    async with desk.store.reading() as connection:
        states = [getattr(await orders.get(connection, order.id), "state", None) for order in [*mine, theirs]]
        assert states == ["processing", *["cancelled"] * 4, "created"]
        assert [event.reason for event in await orders.events(connection, mine[1].id)] == [None, "a bug"]


async def test_a_cancellation_and_attempts_that_are_recorded_do_not_wait_in_a_ring(postgres_database_url: str) -> None:
    async with desk_at(postgres_database_url) as desk:
        first, second = sorted([(await desk.place(None)).id for _ in range(2)])
        later = datetime.now(UTC) + timedelta(minutes=1)
        async with desk.store.transaction() as connection:  # the older one is locked last by all others
            change = update(orders_table).where(orders_table.c.id == first)
            await connection.execute(change.values(created_at=later - timedelta(seconds=1)))

        async def cancel() -> int | None:
            owner = desk.token.token.id
            async with desk.store.transaction() as connection:
                return await batches.cancel(
                    connection, owner, "created", None, "a bug", later, placed_before=later, limit=3
                )

        async def waits() -> bool:
            async with desk.store.reading() as connection:
                waiting = await connection.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted")
                return int(waiting.scalar_one()) > 0

        async with desk.store.transaction() as recording:
            await lock_subjects(recording, [first])
            cancelling = asyncio.create_task(cancel())
            await until(waits, otherwise="nothing waits for the lock")
            await lock_subjects(recording, [second])
        assert await cancelling == 2
