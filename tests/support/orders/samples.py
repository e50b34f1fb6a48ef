"""An order and a delivery with every field set, and a delivery's message."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from api.orders.responses import order_entry
from api.webhooks.payload import Message, message_of
from mappings.platforms import read_platforms
from store.records import DeliveryWork, Order

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = datetime(2026, 8, 9, 5, 0, 0, 700_000, tzinfo=UTC)
AT = datetime(2026, 8, 9, 4, 0, 0, 123456, tzinfo=UTC)


ORDER = Order(
    token_id="tok_1",
    platform=730,
    item=9_223_372_036_854_775_807,
    item_name="★ Karambit | Doppler (Factory New)",
    item_image="https://images.example.com/karambit.png",
    account="client-17",
    email="buyer@example.com",
    fee_mode="excluded",
    currency="USD",
    price_minor=123_450,
    fee_minor=6_173,
    total_minor=129_623,
    success_url="https://shop.example.com/thanks",
    failure_url="https://shop.example.com/sorry",
    id="ord_1",
    state="created",
    status_key="K" * 32,
    created_at=AT,
    updated_at=AT + timedelta(hours=1),
)


WORK = DeliveryWork(
    subject=replace(ORDER, state="processing", updated_at=AT, callback_url="https://shop.example.com/hook"),
    n=2,
    receiver="shop.example.com",
    secrets=(SECRET,),
    tries=0,
    attempts=0,
    leased_until=NOW,
)


def signed(work: DeliveryWork, at: datetime = NOW) -> Message:
    """The message of an attempt at this time."""
    return message_of(work, partial(order_entry, platforms=read_platforms(), public_url="https://gear.test"), at)
