"""Examples of the orders' bodies and answers, as OpenAPI shows them and the tests send them."""

from typing import Any

_LEAST = {"account": "client-17", "email": "buyer@example.com", "platform": "cs2", "item": "40000012345"}
ORDER_BODIES: dict[str, Any] = {
    "least": _LEAST,
    "all": {
        **_LEAST,
        "additionalFields": {
            "platformId": "76561198000000001",
            "tradeLink": "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=aBc-_123",
        },
        "code": "SPRING",
        "fee": "excluded",
        "attribution": {"utm_source": "newsletter", "utm_medium": "email"},
        "successUrl": "https://shop.example.com/thanks",
        "failureUrl": "https://shop.example.com/sorry",
        "callbackUrl": "https://shop.example.com/hooks/gear",
        "expectedPrice": 21.4,
    },
}

ORDER: dict[str, Any] = {
    "id": "ord_X3p9nAq0Zt7LwK2sVb6RcM1d",
    "state": "created",
    "platform": "cs2",
    "item": "40000012345",
    "account": "client-17",
    "code": "SPRING",
    "fee": "excluded",
    "amounts": {"price": 21.4, "fee": 1.07, "total": 22.47, "currency": "USD"},
    "createdAt": "2026-08-09T04:00:00.000Z",
    "updatedAt": "2026-08-09T04:00:00.000Z",
    "statusUrl": "https://gear.example.com/orders/mT5kYw8Qn2Lr0Xf4Bv7Jc9Hs1Da6Gp3Z",
}

_PLACED = {"state": "created", "at": "2026-08-09T04:00:00.000Z", "reason": None}
ORDER_ANSWER: dict[str, Any] = {"status": "success", "order": ORDER}
ORDER_WITH_HISTORY_ANSWER: dict[str, Any] = {
    "status": "success",
    "order": {**ORDER, "history": [_PLACED]},
}

TRANSITION_BODIES: dict[str, Any] = {
    "begin": {"to": "processing"},
    "cancel": {"to": "cancelled", "reason": "the buyer changed their mind"},
}

MOVED_ANSWER: dict[str, Any] = {
    "status": "success",
    "order": {
        **ORDER,
        "state": "cancelled",
        "updatedAt": "2026-08-09T04:01:07.250Z",
        "history": [
            _PLACED,
            {"state": "cancelled", "at": "2026-08-09T04:01:07.250Z", "reason": "the buyer changed their mind"},
        ],
    },
}

ORDERS_ANSWER: dict[str, Any] = {
    "status": "success",
    "orders": [ORDER],
    "nextCursor": "MTc4NjI0ODAwMDAwMDAwMC9vcmRfWDNwOW5BcTBadDdMd0syc1ZiNlJjTTFk",
}

FULFILMENT_ANSWER: dict[str, Any] = {
    "status": "success",
    "account": "client-17",
    "email": "buyer@example.com",
    "platformId": "76561198000000001",
    "tradeLink": "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=aBc-_123",
    "code": "SPRING",
    "attribution": {"utm_source": "newsletter", "utm_medium": "email"},
}
