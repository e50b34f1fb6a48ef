"""A failed-over PostgreSQL: of two addresses the primary is used, whichever it is and however the other one fails."""

import asyncio

import pytest

from store import migrate
from store.connection.drivers import Timeouts
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from tests.support.api.waiting import until
from tests.support.store.postgres import Postgres, running_postgres, standby_of
from tests.support.store.small_requests import BOUND, becomes_usable, read, write

SHORT = Timeouts(connect=3.0, lock=1.0, statement=1.0)


@pytest.mark.parametrize("fault", ["stops", "hangs"])
async def test_orders_go_on_at_the_standby_once_it_is_promoted(fault: str) -> None:
    with running_postgres() as primary, primary.thawed_at_last():
        await migrate.upgrade(primary.url("postgres"))
        with standby_of(primary) as standby:
            hosts = f"host={standby.folder},{primary.folder}&port=5432,5432"
            store = Store(f"postgresql://postgres@/postgres?{hosts}", timeouts=SHORT, connections=2)
            await write(store)
            follower = Store(f"postgresql://postgres@/postgres?host={standby.folder}", connections=1)

            async def has_followed() -> bool:
                return await read(follower) == 1

            await until(has_followed)
            await follower.close()

            if fault == "stops":
                primary.process.stop()
            else:
                primary.suspend()
            with pytest.raises(StoreUnavailable):
                await asyncio.wait_for(write(store), BOUND)
            await asyncio.to_thread(standby.promote)
            await becomes_usable(store)
            assert await read(store) == 2
            await store.close()


async def test_a_connection_to_what_was_the_primary_is_not_used_again(postgres: Postgres) -> None:
    store = Store(await postgres.new_database("was_primary"), connections=1)
    await migrate.upgrade(postgres.url("was_primary"))
    others = "FROM pg_stat_activity WHERE datname = 'was_primary'"
    await postgres.execute(
        "ALTER DATABASE was_primary SET default_transaction_read_only = on",
        f"SELECT pg_terminate_backend(pid) {others}",
    )
    with pytest.raises(StoreUnavailable, match="read only"):
        await write(store)
    await postgres.execute("ALTER DATABASE was_primary RESET default_transaction_read_only")
    await write(store)
    await store.close()
