"""A model of orders, which says what the service must answer to calls; draws the calls themselves, in any order."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from api.background.failing_rows import FailingRows
from api.orders.erasure import Erasure, forget_account
from api.retention import apply_retention
from store.connection.engine import Store
from store.orders import privacy
from tests.support.app import new_token
from tests.support.orders.shop import FREE, KNIFE, LARGEST, NEGATIVE, bearer

# the states as the contract draws them, not as the service has them
STATES = ("created", "processing", "delivered", "completed", "failed", "cancelled", "reverted")
RELEASED = {"failed", "cancelled", "reverted"}
ENDED = {"completed", *RELEASED}
ALLOWED = {
    ("created", "processing"),
    ("processing", "delivered"),
    ("delivered", "completed"),
    ("created", "failed"),
    ("processing", "failed"),
    ("created", "cancelled"),
    ("processing", "cancelled"),
    ("delivered", "reverted"),
    ("completed", "reverted"),
}
ITEMS = (KNIFE, FREE, NEGATIVE, LARGEST)
ACCOUNTS = ("ann", "bob")
KEYS = (None, None, "k1", "k2", "k3")
Body = dict[str, Any]


@dataclass
class OrderModel:
    """An order as the model knows it: what was answered when it was placed, and what happened since."""

    body: Body
    placed: dict[str, Any]
    history: list[str] = field(default_factory=lambda: ["created"])
    to_forget: bool = False
    erased: bool = False

    @property
    def state(self) -> str:
        """Where it is."""
        return self.history[-1]

    def shown(self) -> dict[str, Any]:
        """What stays the same of its answers, with the present state."""
        fixed = {name: value for name, value in self.placed.items() if name != "updatedAt"}
        return {**fixed, "state": self.state, "account": "" if self.erased else self.placed["account"]}


class Life(RuleBasedStateMachine):
    """One client's orders from placing to forgetting, against the model; a subclass names the service."""

    client: ClassVar[httpx.Client]
    database_url: ClassVar[str]
    orders: Bundle[str] = Bundle("orders")

    def __init__(self) -> None:
        super().__init__()
        self._orders: dict[str, OrderModel] = {}
        self._keys: dict[str, str] = {}
        self._token = self._desk = ""

    @initialize()
    def come(self) -> None:
        """A new client, and somebody who fulfils."""
        self._token = asyncio.run(new_token(self.database_url, "order", "search"))
        self._desk = asyncio.run(new_token(self.database_url, "fulfil"))

    def _holder(self, item: str) -> OrderModel | None:
        holders = [each for each in self._orders.values() if each.body["item"] == item and each.state not in RELEASED]
        assert len(holders) <= 1
        return holders[0] if holders else None

    @rule(
        target=orders,
        item=st.sampled_from(ITEMS),
        account=st.sampled_from(ACCOUNTS),
        fee=st.sampled_from(["excluded", "included"]),
        key=st.sampled_from(KEYS),
    )
    def place(self, item: int, account: str, fee: str, key: str | None) -> Any:
        """Places an order, or tries to, or does it again."""
        body = {"account": account, "email": "a@example.com", "platform": "cs2", "item": str(item), "fee": fee}
        order_id = self._order(body, key)
        return multiple() if order_id is None else order_id

    @rule(order_id=orders)
    def place_again(self, order_id: str) -> None:
        """Makes an order's call again, with the key that it was made with."""
        keys = [key for key, holder in self._keys.items() if holder == order_id]
        if keys or self._orders[order_id].state not in RELEASED:
            self._order(self._orders[order_id].body, keys[0] if keys else None)

    def _order(self, body: Body, key: str | None) -> str | None:
        """Orders, and gives the id where that is a new order."""
        headers = {**bearer(self._token), **({} if key is None else {"Idempotency-Key": key})}
        response = self.client.post("/v1/gear", json=body, headers=headers)
        replayed = "Idempotent-Replayed" in response.headers
        if key is not None and key in self._keys:
            self._check_again(response, self._orders[self._keys[key]], body)
            return None
        holder = self._holder(body["item"])
        if holder is None:
            assert (response.status_code, replayed) == (201, False), response.text
            order = response.json()["order"]
            assert order["id"] not in self._orders
            self._orders[order["id"]] = model = OrderModel(body, order)
            assert {**model.shown(), "updatedAt": order["createdAt"]} == order
            if key is not None:
                self._keys[key] = order["id"]
            return str(order["id"])
        if key is None and holder.body == body and not holder.erased:
            assert (response.status_code, replayed) == (201, True), response.text
            assert {**response.json()["order"], **holder.shown()} == response.json()["order"]
        else:
            assert (response.status_code, response.json()["error"]["code"]) == (409, "item_unavailable")
        return None

    def _check_again(self, response: httpx.Response, first: OrderModel, body: Body) -> None:
        """The key was used: the first answer for the first body, and a 422 for any other."""
        if first.body != body:
            assert (response.status_code, response.json()["error"]["code"]) == (422, "idempotency_key_reused")
            return
        assert (response.status_code, response.headers["Idempotent-Replayed"]) == (201, "true")
        assert response.json()["order"] == {**first.placed, "account": first.shown()["account"]}

    @rule(order_id=orders, to=st.sampled_from(STATES), fulfils=st.sampled_from([True, True, False]))
    def move(self, order_id: str, to: str, fulfils: bool) -> None:
        """Moves an order, or tries to."""
        model = self._orders[order_id]
        token = self._desk if fulfils else self._token
        response = self.client.post(f"/v1/orders/{order_id}/transitions", json={"to": to}, headers=bearer(token))
        exists = (model.state, to) in ALLOWED
        if not fulfils and (to != "cancelled" or (exists and model.state != "created")):
            assert response.status_code == 403
        elif not exists:
            assert (response.status_code, response.json()["error"]["code"]) == (409, "invalid_transition")
        else:
            assert response.status_code == 200, response.text
            model.history.append(to)
            if model.to_forget and to in ENDED:
                asyncio.run(self._apply_retention())
                model.erased = True
        self.look(order_id)

    @rule(order_id=orders)
    def look(self, order_id: str) -> None:
        """Reads an order."""
        model = self._orders[order_id]
        order = self.client.get(f"/v1/orders/{order_id}", headers=bearer(self._token)).json()["order"]
        assert {**order, **model.shown()} == order
        assert [each["state"] for each in order["history"]] == model.history

    @rule(
        state=st.none() | st.sampled_from(STATES),
        account=st.none() | st.sampled_from(ACCOUNTS),
        item=st.none() | st.sampled_from(ITEMS),
        limit=st.integers(1, 4),
    )
    def page(self, state: str | None, account: str | None, item: int | None, limit: int) -> None:
        """Pages through a list to its end."""
        wanted = {"state": state, "account": account, "item": item}
        query = {name: str(value) for name, value in wanted.items() if value is not None} | {"limit": str(limit)}
        listed: list[dict[str, Any]] = []
        while True:
            body = self.client.get("/v1/orders", params=query, headers=bearer(self._token)).json()
            listed += body["orders"]
            if body["nextCursor"] is None:
                break
            query["cursor"] = body["nextCursor"]
        shown = [model.shown() for model in reversed(self._orders.values())]
        expected = [each for each in shown if all(v is None or each[name] == str(v) for name, v in wanted.items())]
        assert [{name: each[name] for name in each if name != "updatedAt"} for each in listed] == expected

    @precondition(lambda self: self._orders)
    @rule(account=st.sampled_from(ACCOUNTS))
    def forget(self, account: str) -> None:
        """Forgets an account: its orders at their end at once, the others later."""
        done = asyncio.run(self._forget(account))
        mine = {key: model for key, model in self._orders.items() if model.shown()["account"] == account}
        assert set(done.erased) == {key for key, model in mine.items() if model.state in ENDED}
        assert done.waiting == {key: model.state for key, model in mine.items() if model.state not in ENDED}
        for model in mine.values():
            model.to_forget = True
            model.erased = model.state in ENDED
        for order_id in mine:
            self.place_again(order_id)

    async def _forget(self, account: str) -> Erasure:
        store = Store(self.database_url)
        try:
            async with store.reading() as connection:
                owners = await privacy.owners(connection, account)
            return await forget_account(store, account, list(owners), lambda _: None)
        finally:
            await store.close()

    async def _apply_retention(self) -> None:
        store = Store(self.database_url)
        try:
            await apply_retention(store, datetime.now(UTC), None, FailingRows("test"))
        finally:
            await store.close()

    @invariant()
    def one_item_is_held_as_the_model_says(self) -> None:
        """What a search says of an item agrees with the orders."""
        item = ITEMS[len(self._orders) % len(ITEMS)]
        availability = self.client.get(f"/v1/gear/{item}", headers=bearer(self._token)).json()
        assert availability["available"] == (self._holder(str(item)) is None)

    def teardown(self) -> None:
        """Releases every item, and forgets everybody, for the next client."""
        for order_id in self._orders:
            for to in ("cancelled", "reverted"):
                self.client.post(f"/v1/orders/{order_id}/transitions", json={"to": to}, headers=bearer(self._desk))
        for account in ACCOUNTS:
            asyncio.run(self._forget(account))
