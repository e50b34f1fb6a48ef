"""A broker, a topic of a loaded platform, and settings of an app whose items change."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.settings import Settings
from tests.support.api.catalogue import CS2, put_index
from tests.support.app import settings_for
from tests.support.indexer.fixtures import Place, items
from tests.support.store.migrated import migrated
from tests.support.streams.changes import ITEMS
from tests.support.streams.kafka import Kafka, running_kafka


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """A real broker."""
    with running_kafka() as broker:
        yield broker


@pytest.fixture
def topic(place: Place, kafka: Kafka) -> str:
    """A topic of this test's own, named after its alias, with a loaded platform."""
    place.load(items(3))
    kafka.topic(place.alias)
    return place.alias


@pytest.fixture
async def feed_settings(opensearch_url: str, index_prefix: str, place: Place, tmp_path: Path) -> Settings:
    """Settings of an app with items, whose database the indexer's commands use as well; it calls back over http."""
    url = await migrated(f"sqlite+aiosqlite:///{place.folder}/orders.db")
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=url, allow_insecure_callbacks=True)
    put_index(settings, CS2, ITEMS, datetime.now(UTC) - timedelta(hours=1))
    return settings
