"""Addresses of Kafka topics."""

import pytest

from indexer.errors import CommandError
from indexer.follow.kafka import parse_address


def test_an_address_names_brokers_and_a_topic() -> None:
    assert parse_address("kafka://a:9092,b:9092/listings") == ("a:9092,b:9092", "listings")


@pytest.mark.parametrize(
    "address", ["kafka://a:9092", "kafka:///x", "kafka://u@a/x", "kafka://a/x/y", "kafka://[::1/x"]
)
def test_any_other_address_is_named(address: str) -> None:
    with pytest.raises(CommandError, match="must be kafka://host:port/topic"):
        parse_address(address)
