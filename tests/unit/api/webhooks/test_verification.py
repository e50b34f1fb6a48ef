"""Verifying a callback: an integrator is told what is wrong, and what is right passes."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from api.webhooks.payload import message_id
from api.webhooks.verification import problem
from tests.support.golden import Golden
from tests.support.orders.samples import NOW, SECRET, WORK, signed

OTHER = "whsec_" + "C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
MESSAGE = signed(WORK)


def test_the_message_has_the_shape_of_the_contract(golden: Golden) -> None:
    golden("orders/callback", {"headers": {**MESSAGE.headers, "User-Agent": "gear"}, "body": json.loads(MESSAGE.body)})


def test_the_id_is_the_events_and_has_no_dot() -> None:
    assert message_id("ord_a-b_c", 3) == "msg_a-b_c_3"


def test_both_secrets_of_a_rotation_sign() -> None:
    both = signed(replace(WORK, secrets=(OTHER, SECRET)))
    assert len(both.headers["webhook-signature"].split(" ")) == 2
    for secret in (SECRET, OTHER):
        assert problem(secret, both.headers, both.body, NOW) is None


def test_what_was_sent_is_right() -> None:
    assert problem(SECRET, MESSAGE.headers, MESSAGE.body, NOW) is None
    assert problem(SECRET.removeprefix("whsec_"), MESSAGE.headers, MESSAGE.body, NOW) is None
    shouted = {name.upper(): f" {value} " for name, value in MESSAGE.headers.items()}
    assert problem(SECRET, shouted, MESSAGE.body, NOW) is None


@pytest.mark.parametrize(
    ("secret", "headers", "body", "reason"),
    [
        (SECRET, {"webhook-id": ""}, MESSAGE.body, "headers webhook-id are missing"),
        ("whsec_%%%", {}, MESSAGE.body, "the secret is not whsec_ and base64"),
        ("whsec_\u201cabc\u201d", {}, MESSAGE.body, "the secret is not whsec_ and base64"),
        (SECRET[:22], {}, MESSAGE.body, "24 to 64 are usual"),
        (SECRET, {"webhook-timestamp": "2026-08-09"}, MESSAGE.body, "not whole seconds"),
        (SECRET, {"webhook-signature": "v1a,AAAA"}, MESSAGE.body, "no signature that begins with v1,"),
        (SECRET, {"webhook-signature": "v1"}, MESSAGE.body, "no signature matches"),
        (SECRET, {"webhook-signature": "v1,\xe9"}, MESSAGE.body, "no signature matches"),
        (SECRET, {"webhook-id": "msg_other"}, MESSAGE.body, "no signature matches"),
        (OTHER, {}, MESSAGE.body, "no signature matches: the secret is another token's"),
        (SECRET, {}, MESSAGE.body + b"\n", "a line break at its ends"),
        (SECRET, {}, json.dumps(json.loads(MESSAGE.body)).encode(), "parsed and written anew"),
        (SECRET, {}, b"\x1f\x8b", "not UTF-8"),
        (SECRET, {}, b"{", "no signature matches"),
        (SECRET, {}, b"[" * 100_000, "no signature matches"),
    ],
)
def test_what_is_wrong_is_named(secret: str, headers: dict[str, str], body: bytes, reason: str) -> None:
    assert reason in str(problem(secret, {**MESSAGE.headers, **headers}, body, NOW))


def test_old_and_future_callbacks_are_named() -> None:
    assert "360 s ago" in str(problem(SECRET, MESSAGE.headers, MESSAGE.body, NOW + timedelta(seconds=359.3)))
    assert "in the future" in str(problem(SECRET, MESSAGE.headers, MESSAGE.body, NOW - timedelta(minutes=6)))
    assert problem(SECRET, MESSAGE.headers, MESSAGE.body, NOW + timedelta(days=9), None) is None


def test_the_reference_library_agrees() -> None:
    fresh = signed(WORK, datetime.now(UTC))
    assert Webhook(SECRET).verify(fresh.body, fresh.headers)["type"] == "order.processing"
