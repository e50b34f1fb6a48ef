"""Order bodies: each rule of the contract's table is kept, and each breach is named by its field."""

from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from api.errors import from_validation
from api.http.json_body import parse
from api.orders.schemas import OrderBody
from tests.support.api.described_examples import ORDER_BODIES

LEAST = ORDER_BODIES["least"]


def as_sent(body: dict[str, Any]) -> Any:
    """The body as it is read from a request."""
    return parse(orjson.dumps(body))


def problems(body: dict[str, Any]) -> dict[str, str]:
    """The fields that are refused, each with the reason."""
    try:
        OrderBody.model_validate(body)
    except ValidationError as error:
        return {detail.field: detail.message for detail in from_validation(error.errors()).details}
    return {}


@pytest.mark.parametrize("name", list(ORDER_BODIES))
def test_the_examples_are_orders(name: str) -> None:
    assert problems(as_sent(ORDER_BODIES[name])) == {}


def test_null_means_absent() -> None:
    optional = ["additionalFields", "code", "fee", "attribution", "successUrl", "failureUrl", "callbackUrl"]
    nothing = OrderBody.model_validate({**LEAST, **dict.fromkeys([*optional, "expectedPrice"])})
    assert nothing == OrderBody.model_validate(LEAST)
    assert nothing.fee == "excluded"
    inner = {"additionalFields": {"platformId": None, "tradeLink": None}, "attribution": {"utm_source": None}}
    assert problems({**LEAST, **inner}) == {}


@pytest.mark.parametrize("field", ["account", "email", "platform", "item"])
def test_what_is_required_must_be_there(field: str) -> None:
    assert list(problems({key: value for key, value in LEAST.items() if key != field})) == [field]
    assert list(problems({**LEAST, field: None})) == [field]
    assert list(problems({**LEAST, field: 730})) == [field]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"account": ""}, "account"),
        ({"account": "x" * 129}, "account"),
        ({"code": "x" * 65}, "code"),
        ({"fee": "none"}, "fee"),
        ({"fee": ""}, "fee"),
        ({"attribution": {"utm_source": "x" * 257}}, "attribution.utm_source"),
        ({"attribution": {"utm_medium": "x" * 257}}, "attribution.utm_medium"),
        ({"attribution": {"utm_campaign": "x"}}, "attribution.utm_campaign"),
        ({"attribution": []}, "attribution"),
        ({"additionalFields": {"platformId": "7" * 257}}, "additionalFields.platformId"),
        ({"additionalFields": {"tradeLink": "x" * 2049}}, "additionalFields.tradeLink"),
        ({"additionalFields": {"tradelink": "x"}}, "additionalFields.tradelink"),
        ({"additionalFields": {"platform_id": "x"}}, "additionalFields.platform_id"),
        ({"successUrl": "x" * 2049}, "successUrl"),
        ({"failureUrl": 1}, "failureUrl"),
        ({"callbackUrl": ["https://shop.example.com"]}, "callbackUrl"),
        ({"callback_url": "https://shop.example.com"}, "callback_url"),
        ({"expectedPrice": "21.40"}, "expectedPrice"),
        ({"expectedPrice": True}, "expectedPrice"),
        ({"expectedPrice": -1}, "expectedPrice"),
        ({"expectedPrice": 10**12 + 1}, "expectedPrice"),
        ({"price": 1}, "price"),
        ({"idempotencyKey": "x"}, "idempotencyKey"),
    ],
)
def test_every_breach_is_named_by_its_field(more: dict[str, Any], field: str) -> None:
    assert list(problems({**LEAST, **more})) == [field]


@pytest.mark.parametrize(
    "field", ["account", "email", "platform", "item", "code", "successUrl", "failureUrl", "callbackUrl"]
)
def test_no_text_holds_a_nul(field: str) -> None:
    assert list(problems({**LEAST, field: "a\x00b"})) == [field]


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\x1b", "\x7f", "\x85"])
@pytest.mark.parametrize("field", ["account", "code"])
def test_the_clients_own_references_are_preserved_as_they_are(field: str, character: str) -> None:
    assert problems({**LEAST, field: f"a{character}b"}) == {}


def test_texts_are_preserved_as_they_are() -> None:
    texts = {"account": " Клиент 17 👩‍👧 ", "code": "", "item": "x", "platform": " cs2"}
    body = OrderBody.model_validate({**LEAST, **texts})
    assert {field: getattr(body, field) for field in texts} == texts
    assert problems({**LEAST, "account": "👍" * 128, "code": "👍" * 64}) == {}


@pytest.mark.parametrize(
    "email",
    [
        *(
            "buyer@example.com",
            "Buyer+cs2@Example.COM",
            "o'neil@example.co.uk",
            "käufer@example.de",
            "a@münchen.example.de",
        ),
        *("buyer@shop.test", f"{'a' * 64}@example.com"),
    ],
)
def test_addresses_that_mail_can_reach_are_accepted(email: str) -> None:
    assert OrderBody.model_validate({**LEAST, "email": email}).email == email


@pytest.mark.parametrize(
    "email",
    [
        *("", "buyer", "buyer@", "@example.com", "buyer@example", "buyer@@example.com", "a b@example.com"),
        *("buyer@example.com ", " buyer@example.com", "Buyer <buyer@example.com>", "buyer@localhost"),
        *("buyer@[127.0.0.1]", "buyer@-example.com", ".buyer@example.com", "buyer@example..com", "a@b.c@example.com"),
        *(f"{'a' * 65}@example.com", f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 20}.com"),
    ],
)
def test_other_texts_are_no_address(email: str) -> None:
    assert list(problems({**LEAST, "email": email})) == ["email"]


def test_a_price_keeps_all_its_decimals() -> None:
    body = {**LEAST, "expectedPrice": parse(b"21.400000000000000000001")}
    assert str(OrderBody.model_validate(body).expected_price) == "21.400000000000000000001"


def test_the_buyers_data_stay_out_of_logs() -> None:
    shown = repr(OrderBody.model_validate(as_sent(ORDER_BODIES["all"])))
    for secret in ("buyer@example.com", "tradeoffer", "76561198000000001", "hooks"):
        assert secret not in shown
