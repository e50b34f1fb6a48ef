"""What a callback carries."""

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest

from api.orders.webhooks.payload import message_id, message_of
from mappings.platforms import read_platforms
from tests.support.orders.samples import WORK

PLATFORM = next(iter(read_platforms()))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_message_is_of_its_event_and_has_a_signature_for_each_secret() -> None:
    message = message_of(WORK, PLATFORM, "https://gear.test", NOW)
    assert message.url == WORK.order.callback_url
    assert orjson.loads(message.body)["type"] == f"order.{WORK.order.state}"
    assert message.headers["webhook-id"] == message_id(WORK.order.id, WORK.n)
    assert message.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert len(message.headers["webhook-signature"].split()) == len(WORK.secrets)


def test_an_order_without_an_address_has_no_message() -> None:
    silent = replace(WORK, order=replace(WORK.order, callback_url=None))
    with pytest.raises(ValueError, match="has no callback address"):
        message_of(silent, PLATFORM, "https://gear.test", NOW)
