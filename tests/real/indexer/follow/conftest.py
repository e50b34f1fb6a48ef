"""One broker for all tests of streams."""

from collections.abc import Iterator

import pytest

from tests.support.streams.kafka import Kafka, running_kafka


@pytest.fixture(scope="package")
def kafka() -> Iterator[Kafka]:
    """A real broker."""
    with running_kafka() as broker:
        yield broker
