"""The order's page: the buyer follows the order without a token, and nobody else finds it."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.orders.shop import Shop

URLS: dict[str, Any] = {
    "successUrl": "https://shop.example.com/danke?über=1",
    "failureUrl": "https://shop.example.com/sorry",
}


def path_of(order: dict[str, Any]) -> str:
    """The path of the order's page."""
    return str(order["statusUrl"]).removeprefix("http://gear.test")


async def test_the_buyer_sees_the_order_without_a_token(small_shop: Shop) -> None:
    order = await small_shop.placed(**URLS)
    with capture_logs() as logs:
        page = await small_shop.app.client.get(path_of(order), headers={"Authorization": ""})
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for text in ("Order received", "AK-47 | Redline (Field-Tested)", "22.47 USD", 'http-equiv="refresh"'):
        assert text in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert path_of(order).removeprefix("/orders/") not in str(logs)


async def test_the_page_speaks_the_buyers_language(small_shop: Shop) -> None:
    order = await small_shop.placed()
    ukrainian = {"Accept-Language": "uk-UA,uk;q=0.9,en;q=0.5"}
    page = await small_shop.app.client.get(path_of(order), headers=ukrainian)
    assert (page.headers["Content-Language"], page.headers["Vary"]) == ("uk", "Accept-Language")
    assert "Замовлення прийнято" in page.text
    japanese = await small_shop.app.client.get(path_of(order) + "?language=ja", headers=ukrainian)
    assert "注文を受け付けました" in japanese.text
    english = await small_shop.get(path_of(order))
    assert len({each.headers["ETag"] for each in (page, japanese, english)}) == 3


async def test_a_page_that_has_not_changed_is_not_sent_again(small_shop: Shop) -> None:
    order = await small_shop.placed()
    page = await small_shop.get(path_of(order))
    headers = {"If-None-Match": page.headers["ETag"]}
    again = await small_shop.app.client.get(path_of(order), headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == "no-store"
    weak = {"If-None-Match": f'"other", W/{page.headers["ETag"]}'}  # as a proxy that compresses sends it
    assert (await small_shop.app.client.get(path_of(order), headers=weak)).status_code == 304
    await small_shop.move(order["id"], "created", "processing")
    assert (await small_shop.app.client.get(path_of(order), headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("states", "location"),
    [
        (("created", "processing", "delivered", "completed"), "https://shop.example.com/danke?%C3%BCber=1"),
        (("created", "failed"), "https://shop.example.com/sorry"),
        (("created", "cancelled"), "https://shop.example.com/sorry"),
        (("created", "processing", "delivered", "reverted"), "https://shop.example.com/sorry"),
    ],
)
async def test_the_end_sends_the_buyer_back_to_the_shop(
    small_shop: Shop, states: tuple[str, ...], location: str
) -> None:
    order = await small_shop.placed(**URLS)
    await small_shop.move(order["id"], *states)
    page = await small_shop.get(path_of(order))
    assert (page.status_code, page.headers["Location"]) == (303, location)
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"


async def test_without_addresses_the_page_shows_the_end(small_shop: Shop) -> None:
    order = await small_shop.placed()
    await small_shop.move(order["id"], "created", "processing", "delivered", "completed")
    page = await small_shop.get(path_of(order))
    assert page.status_code == 200
    assert "Completed" in page.text
    assert 'http-equiv="refresh"' not in page.text
