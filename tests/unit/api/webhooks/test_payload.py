"""What a callback carries."""

from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest

from api.webhooks.payload import PlatformFileGoneError, message_id
from store.records import Order, SearchMatches
from tests.support.orders.samples import ORDER, WORK, signed

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_message_is_of_its_event_and_has_a_signature_for_each_secret() -> None:
    message = signed(WORK, NOW)
    assert message.url == WORK.subject.callback_url
    assert isinstance(WORK.subject, Order)
    assert orjson.loads(message.body)["type"] == f"order.{WORK.subject.state}"
    assert message.headers["webhook-id"] == message_id(WORK.subject.id, WORK.n)
    assert message.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert len(message.headers["webhook-signature"].split()) == len(WORK.secrets)


def test_an_order_without_an_address_has_no_message() -> None:
    silent = replace(WORK, subject=replace(WORK.subject, callback_url=None))
    with pytest.raises(ValueError, match="has no callback address"):
        signed(silent)


def test_the_message_of_a_saved_search_has_its_changes_as_they_are_stored() -> None:
    matches = SearchMatches(
        id="sch_abc",
        name="knives",
        token_id="tok_1",
        sandbox=False,
        callback_url="https://shop.example.com/matches",
        at=NOW,
        changes=b'[{"id":1,"change":"listed"}]',
    )
    message = signed(replace(WORK, subject=matches, n=3))
    assert message.url == matches.callback_url
    assert message.headers["webhook-id"] == "msg_abc_3"
    assert orjson.loads(message.body) == {
        "type": "search.matched",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "data": {"search": {"id": "sch_abc", "name": "knives"}, "changes": [{"id": 1, "change": "listed"}]},
    }


def test_an_order_whose_platform_has_no_file_has_no_message() -> None:
    lost = replace(ORDER, platform=999, callback_url="https://shop.example.com/hook")
    with pytest.raises(PlatformFileGoneError, match="is of platform 999, which has no file: put it back"):
        signed(replace(WORK, subject=lost))
