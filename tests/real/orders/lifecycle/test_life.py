"""The whole life of orders, in any order of calls that a machine thinks of, against a simple model."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from api.settings import Settings
from tests.support.app import serving, settings_for
from tests.support.examples import examples
from tests.support.orders.life import Life
from tests.support.orders.shop import load
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres


@pytest.mark.parametrize(("kind", "lives"), [("sqlite", examples(8, 32)), ("postgresql", examples(3, 12))])
def test_orders_live_as_the_model_says(
    opensearch_url: str, index_prefix: str, tmp_path: Path, postgres: Postgres, kind: str, lives: int
) -> None:
    more = {} if kind == "sqlite" else {"database_url": postgres.url("orders_life")}
    service_settings: Settings = settings_for(opensearch_url, index_prefix, tmp_path, fee_rate="0.05", **more)
    if kind == "postgresql":
        asyncio.run(postgres.execute("CREATE DATABASE orders_life"))
    asyncio.run(migrated(service_settings.database_url))
    asyncio.run(load(service_settings))
    with serving(service_settings) as client:
        run_state_machine_as_test(
            type("LifeHere", (Life,), {"client": client, "database_url": service_settings.database_url}),
            settings=settings(
                max_examples=lives,
                stateful_step_count=25,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
