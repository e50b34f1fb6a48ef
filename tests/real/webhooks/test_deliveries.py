"""The log of callbacks: a client sees what became of each, has one sent again, and sees nobody else's."""

from typing import Any

from api.settings import Settings
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.orders.shop import Shop, bearer, opened
from tests.support.services.receiver import Receiver, responses


async def listed(shop: Shop, order: dict[str, Any]) -> list[dict[str, Any]]:
    """The order's deliveries."""
    response = await shop.get(f"/v1/orders/{order['id']}/deliveries")
    assert response.status_code == 200, response.text
    assert response.json()["status"] == "success"
    entries: list[dict[str, Any]] = response.json()["deliveries"]
    return entries


async def replayed(shop: Shop, order: dict[str, Any], n: object = 1, token: str | None = None) -> Any:
    """`POST …/replay`."""
    return await shop.app.client.post(f"/v1/orders/{order['id']}/deliveries/{n}/replay", headers=bearer(token))


async def test_a_client_follows_a_callback_and_sends_it_again(settings: Settings) -> None:
    with Receiver(responses(503)) as receiver:
        async with opened(settings.model_copy(update={"allow_insecure_callbacks": True})) as shop:
            order = await shop.placed(callbackUrl=receiver.url)

            async def failed_once() -> bool:
                return bool((await listed(shop, order))[0]["attempts"])

            await until(failed_once, otherwise="no attempt is listed")
            [delivery] = await listed(shop, order)
            assert set(delivery) == {"n", "event", "state", "attempts", "nextAttemptAt"}
            assert (delivery["n"], delivery["event"], delivery["state"]) == (1, "order.created", "pending")
            assert delivery["nextAttemptAt"].endswith("Z")
            [attempt] = delivery["attempts"]
            assert set(attempt) == {"at", "outcome", "statusCode", "milliseconds"}
            assert (attempt["outcome"], attempt["statusCode"]) == ("rejected", 503)

            receiver.behaviour = responses(200)
            response = await replayed(shop, order)
            assert response.status_code == 202
            assert response.json()["delivery"]["state"] == "pending"

            async def delivered() -> bool:
                return str((await listed(shop, order))[0]["state"]) == "delivered"

            await until(delivered, otherwise="it was not sent again")
            assert (await listed(shop, order))[0]["nextAttemptAt"] is None
        assert len(set(receiver.ids)) == 1


async def test_an_order_without_an_address_has_an_empty_log(small_shop: Shop) -> None:
    order = await small_shop.placed()
    assert await listed(small_shop, order) == []
    assert error_of(await replayed(small_shop, order))["code"] == "delivery_not_found"


async def test_an_unknown_number_is_a_404(small_shop: Shop) -> None:
    order = await small_shop.placed(callbackUrl="https://shop.invalid/hook")
    for n in ("2", "0", "-1", "x", "1.0", "9" * 30, "%D9%A1", "%00"):
        assert error_of(await replayed(small_shop, order, n))["code"] == "delivery_not_found", n


async def test_nobody_else_sees_or_replays_a_callback_but_fulfilment(small_shop: Shop) -> None:
    order = await small_shop.placed(callbackUrl="https://shop.invalid/hook")
    other_token, fulfilment = await small_shop.token("order"), await small_shop.token("fulfil")
    path = f"/v1/orders/{order['id']}/deliveries"
    assert error_of(await small_shop.get(path, other_token))["code"] == "order_not_found"
    assert error_of(await replayed(small_shop, order, token=other_token))["code"] == "order_not_found"
    assert (await small_shop.get(path, fulfilment)).status_code == 200
    assert (await replayed(small_shop, order, token=fulfilment)).status_code == 202
