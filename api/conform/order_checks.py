"""Checks of orders by a sandbox token: no real item is bound, and what is placed is cancelled."""

import secrets
import time
from typing import Any, Final
from urllib.parse import urlsplit

from api.conform.checks import check
from api.conform.deployment import Deployment, exactly, require

ORDER: Final = (
    *("id", "state", "platform", "item", "account", "code", "fee", "amounts"),
    *("createdAt", "updatedAt", "statusUrl"),
)
STAYS, COMPLETES, SOLD, PRICE_RISEN = "-11", "-10", "-40", "-41"
COMPLETE_SECONDS: Final = 60.0
REPLAYED: Final = "idempotent-replayed"


@check("orders", "A sandbox token orders items with negative ids and no others: nothing real is bound.")
def sandbox(deployment: Deployment) -> None:
    # with another token no such item exists, and this is a 404
    deployment.send("POST", "/v1/gear", deployment.order_body(SOLD)).error(409, "item_unavailable")


@check("orders", "201 {status, order} with Location; amounts are fixed when the order is placed.")
def placed(deployment: Deployment) -> None:
    body = deployment.order_body(STAYS, code="conform")
    response = deployment.order(body).expect(201)
    exactly(response.json, ("status", "order"), "the 201")
    order = response.json["order"]
    exactly(order, ORDER, "an order")
    require(order["state"] == "created", f"a new order is {order['state']}")
    for name in ("item", "account", "code"):
        require(order[name] == body[name], f"{name} is {order[name]!r} instead of {body[name]!r}")
    require(response.headers.get("location", "").endswith(f"/v1/orders/{order['id']}"), "Location is missing or wrong")
    amounts = order["amounts"]
    exactly(amounts, ("price", "fee", "total", "currency"), "amounts")
    require(round(amounts["price"] + amounts["fee"] - amounts["total"], 2) == 0, f"amounts do not add up: {amounts}")


@check("orders", "Without a key, the same body while its order is active returns that order as 201.")
def same_body(deployment: Deployment) -> None:
    body = deployment.order_body(STAYS)
    first, again = deployment.order(body).expect(201), deployment.order(body).expect(201)
    require(first.json == again.json, "the repeated call placed another order")
    require(again.headers.get(REPLAYED) == "true", "Idempotent-Replayed is missing")


@check("orders", "Idempotency-Key: the 201 is replayed; another body with the key is 422 idempotency_key_reused.")
def idempotency_key(deployment: Deployment) -> None:
    key, body = f"conform-{secrets.token_hex(8)}", deployment.order_body(STAYS)
    first = deployment.order(body, Idempotency_Key=key).expect(201)
    again = deployment.order(body, Idempotency_Key=key).expect(201)
    require(first.json == again.json, "the repeated call has another response")
    require(again.headers.get(REPLAYED) == "true", "Idempotent-Replayed is missing")
    other = deployment.order(deployment.order_body(STAYS), Idempotency_Key=key)
    other.error(422, "idempotency_key_reused")


@check("orders", "One item, one active order: 409 item_unavailable.")
def one_active_order(deployment: Deployment) -> None:
    body = deployment.order_body(STAYS)
    deployment.order(body).expect(201)
    deployment.order({**body, "account": "conform-other"}).error(409, "item_unavailable")


@check("orders", "expectedPrice: 409 price_changed with the current price in error.price.")
def price_changed(deployment: Deployment) -> None:
    error = deployment.order(deployment.order_body(PRICE_RISEN, expectedPrice=10)).error(409, "price_changed")
    require(error.get("price") == 10.5, f"error.price is {error.get('price')!r} instead of 10.5")


@check("orders", "Fields of an order are checked: a 422 names each.")
def order_fields(deployment: Deployment) -> None:
    for name, value in (("email", "none"), ("fee", "free"), ("callbackUrl", "https://user:secret@example.com/")):
        body = deployment.order_body(STAYS, **{name: value})
        deployment.order(body).error(422, "validation_failed", name)
    body = deployment.order_body(STAYS, platform="no-such-platform")
    deployment.order(body).error(422, "unknown_platform", "platform")


@check("orders", "GET /v1/orders/{id} shows the order with its history; another's or none is 404 order_not_found.")
def order_history(deployment: Deployment) -> None:
    order = deployment.order(deployment.order_body(STAYS)).expect(201).json["order"]
    body = deployment.send("GET", f"/v1/orders/{order['id']}").keys("status", "order")["order"]
    exactly(body, (*ORDER, "history"), "an order")
    (event,) = body["history"]
    exactly(event, ("state", "at", "reason"), "an event")
    require(event["state"] == "created", "the history does not begin with created")
    deployment.send("GET", f"/v1/orders/ord_{secrets.token_hex(12)}").error(404, "order_not_found")


@check("orders", "GET /v1/orders lists own orders, newest first.")
def order_list(deployment: Deployment) -> None:
    body = deployment.order_body(STAYS)
    order_id = deployment.order(body).expect(201).json["order"]["id"]
    listed = deployment.send("GET", f"/v1/orders?account={body['account']}&limit=100")
    orders = listed.keys("status", "orders", "nextCursor")["orders"]
    require([order["id"] for order in orders] == [order_id], "the account's list is not its one order")
    times = [order["createdAt"] for order in deployment.send("GET", "/v1/orders").expect(200).json["orders"]]
    require(times == sorted(times, reverse=True), "the list is not newest first")


@check("orders", "An order's own token may cancel it while created; a second time is 409 invalid_transition.")
def cancel(deployment: Deployment) -> None:
    order_id = deployment.order(deployment.order_body(STAYS)).expect(201).json["order"]["id"]
    path = f"/v1/orders/{order_id}/transitions"
    moved = deployment.send("POST", path, {"to": "cancelled"}).keys("status", "order")["order"]
    require(moved["state"] == "cancelled", f"the order is {moved['state']}")
    require([event["state"] for event in moved["history"]] == ["created", "cancelled"], "the history is another")
    deployment.send("POST", path, {"to": "cancelled"}).error(409, "invalid_transition")


@check("orders", "created -> processing -> delivered -> completed; only these transitions.")
def life(deployment: Deployment) -> None:
    order_id = deployment.order(deployment.order_body(COMPLETES)).expect(201).json["order"]["id"]
    deadline = time.monotonic() + COMPLETE_SECONDS
    order: dict[str, Any] = {}
    while order.get("state") != "completed" and time.monotonic() < deadline:
        order = deployment.send("GET", f"/v1/orders/{order_id}").expect(200).json["order"]
        time.sleep(0.25)
    states = [event["state"] for event in order["history"]]
    expected = ["created", "processing", "delivered", "completed"]
    require(states == expected, f"in {COMPLETE_SECONDS:.0f} seconds it went {' -> '.join(states)}")


@check("orders", "GET /v1/orders/{id}/deliveries lists callbacks; without callbackUrl there are none.")
def deliveries(deployment: Deployment) -> None:
    order_id = deployment.order(deployment.order_body(STAYS)).expect(201).json["order"]["id"]
    body = deployment.send("GET", f"/v1/orders/{order_id}/deliveries").keys("status", "deliveries")
    require(body["deliveries"] == [], "there are callbacks to nobody")
    deployment.send("POST", f"/v1/orders/{order_id}/deliveries/1/replay").error(404, "delivery_not_found")


@check("orders", "The order's page at statusUrl shows its state to the buyer, without a token.")
def page(deployment: Deployment) -> None:
    order = deployment.order(deployment.order_body(STAYS)).expect(201).json["order"]
    path = urlsplit(order["statusUrl"]).path  # whatever address the deployment has for buyers
    response = deployment.send("GET", path, token=None).expect(200)
    require(response.headers.get("content-type", "").startswith("text/html"), "the page is no HTML")
    require(b"created" in response.body.lower(), "the page does not show the state")
