"""Tokens: a secret opens its token and no other, is kept as a hash only, and stops working once revoked or expired."""

import base64
import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from store.auth import tokens
from store.connection.engine import Store
from store.connection.errors import AmbiguousName, ConstraintBroken
from store.schema import tokens as tokens_table
from tests.support.store.fixtures import NOW


async def create(store: Store, name: str = "shop", **changes: object) -> tokens.CreatedToken:
    values = {"scopes": ["search"], "sandbox": False, "expires_at": None, **changes}
    async with store.transaction() as connection:
        return await tokens.create(connection, name=name, now=NOW, **values)  # type: ignore[arg-type]  # one dict


async def find(store: Store, plaintext: str) -> tokens.Token | None:
    async with store.reading() as connection:
        return await tokens.find(connection, plaintext)


async def test_the_secret_opens_its_token(store: Store) -> None:
    expires = NOW + timedelta(days=90)
    created = await create(store, scopes=["search", "order", "search"], sandbox=True, expires_at=expires)
    other = await create(store, name="metrics", scopes=["metrics"])
    stored = await find(store, created.plaintext)
    assert stored == created.token
    assert stored.scopes == frozenset({"search", "order"})
    assert (stored.name, stored.sandbox, stored.created_at, stored.expires_at) == ("shop", True, NOW, expires)
    assert await find(store, other.plaintext) == other.token


@pytest.mark.parametrize("wrong", ["", "gear_", "gear_" + "A" * 43, "ж", "\ud800", "' OR 1=1 --", "x" * 10_000])
async def test_what_is_no_secret_opens_nothing(store: Store, wrong: str) -> None:
    created = await create(store)
    assert await find(store, wrong) is None
    assert await find(store, created.plaintext[:-1]) is None
    assert await find(store, created.plaintext.swapcase()) is None


async def test_secrets_have_the_promised_form(store: Store) -> None:
    created = await create(store)
    assert re.fullmatch(r"gear_[A-Za-z0-9_-]{43}", created.plaintext)
    assert re.fullmatch(r"tok_[A-Za-z0-9_-]{16}", created.token.id)
    assert created.token.webhook_secret.startswith("whsec_")
    assert len(base64.b64decode(created.token.webhook_secret.removeprefix("whsec_"), validate=True)) == 32


async def test_no_secret_is_stored_or_shown(store: Store) -> None:
    created = await create(store)
    async with store.reading() as connection:
        row = (await connection.execute(select(tokens_table))).one()
    assert created.plaintext not in str(row)
    for shown in (repr(created), repr(created.token), str(created)):
        assert created.plaintext not in shown
        assert created.token.webhook_secret not in shown


async def test_a_revoked_token_is_not_usable_and_a_name_can_be_used_again(store: Store) -> None:
    created = await create(store)
    async with store.transaction() as connection:
        assert await tokens.revoke(connection, "shop", NOW)
        assert not await tokens.revoke(connection, "shop", NOW)
        assert not await tokens.revoke(connection, created.token.id, NOW)
        assert not await tokens.revoke(connection, "unknown", NOW)
    stored = await find(store, created.plaintext)
    assert stored is not None
    assert stored.revoked_at == NOW
    assert not stored.usable(NOW)
    again = await create(store)
    assert again.token.usable(NOW)
    async with store.transaction() as connection:
        assert await tokens.revoke(connection, again.token.id, NOW)
        assert [token.usable(NOW) for token in await tokens.list_all(connection)] == [False, False]


async def test_a_name_that_two_tokens_share_revokes_neither(store: Store) -> None:
    created = [await create(store), await create(store)]
    with pytest.raises(AmbiguousName, match="2 tokens are named 'shop'") as caught:
        async with store.transaction() as connection:
            await tokens.revoke(connection, "shop", NOW)
    assert all(each.token.id in str(caught.value) for each in created)
    async with store.reading() as connection:
        assert [token.usable(NOW) for token in await tokens.list_all(connection)] == [True, True]


async def test_tokens_are_listed_oldest_first(store: Store) -> None:
    async with store.transaction() as connection:
        for number in (3, 1, 2):
            at = NOW + timedelta(microseconds=number)
            await tokens.create(connection, f"n{number}", ["search"], False, None, at)
        assert [token.name for token in await tokens.list_all(connection)] == ["n1", "n2", "n3"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": ""}, "1 to 128 printable characters"),
        ({"name": "  "}, "1 to 128 printable characters"),
        ({"name": "n" * 129}, "1 to 128 printable characters"),
        ({"name": "a\x00b"}, "1 to 128 printable characters"),
        ({"name": "tok_mine"}, "must not begin with tok_"),
        ({"scopes": []}, "at least one scope of search, order, fulfil, catalogue, operate, metrics"),
        ({"scopes": ["search", "write", "admin"]}, "unknown scopes: admin, write"),
        ({"expires_at": NOW}, "expired already"),
    ],
)
async def test_a_token_that_makes_no_sense_is_refused(store: Store, changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        await create(store, **changes)  # type: ignore[arg-type]  # the case's own field


async def test_a_broken_rule_does_not_quote_the_row(store: Store, token: tokens.CreatedToken) -> None:
    async with store.reading() as connection:
        row = (await connection.execute(select(tokens_table))).one()._asdict()

    async def double() -> None:
        async with store.transaction() as connection:
            await connection.execute(tokens_table.insert().values({**row, "id": "tok_other"}))

    with pytest.raises(ConstraintBroken, match=r"tokens_sha256|tokens\.sha256") as caught:
        await double()
    assert row["sha256"] not in str(caught.value)
    assert row["webhook_secret"] not in str(caught.value)


async def test_what_a_token_is_restricted_to_is_read_again(store: Store) -> None:
    created = await create(
        store, rate_limit=7, filters='{"weapon": ["AWP"]}', origins=["https://b.example", "http://a:3000"]
    )
    stored = await find(store, created.plaintext)
    assert stored == created.token
    assert (stored.rate_limit, stored.filters, stored.origins) == (
        7,
        '{"weapon": ["AWP"]}',
        ("https://b.example", "http://a:3000"),
    )
    plain = (await create(store, name="other")).token
    assert (plain.rate_limit, plain.filters, plain.origins, plain.last_used_at) == (None, None, (), None)


@pytest.mark.parametrize(
    "origin",
    [
        *("", "*", "null", "shop.example", "ftp://shop.example", "https://", "https://shop.example/"),
        *("HTTPS://shop.example", "https://Shop.example", "https://shop.example:443", "http://shop.example:80"),
        *("https://*.example", "https://b\u00fccher.example", "https://ann@shop.example", "https://shop.example?x"),
        *("https://shop.example:0", "https://shop.example\n", "https://a b", "https://" + "x" * 300),
    ],
)
async def test_what_is_no_origin_is_refused(store: Store, origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin: write it as browsers send it"):
        await create(store, origins=["https://shop.example", origin])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rate_limit": 0}, "a rate limit is 1 to 1,000,000"),
        ({"rate_limit": 1_000_001}, "a rate limit is 1 to 1,000,000"),
        ({"filters": "{}", "scopes": ["search", "order"]}, "has the scope search alone"),
        ({"filters": "{}", "scopes": ["order"]}, "has the scope search alone"),
        ({"origins": [f"https://{number}.example" for number in range(21)]}, "at most 20 origins"),
    ],
)
async def test_a_restriction_that_makes_no_sense_is_refused(
    store: Store, changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        await create(store, **changes)  # type: ignore[arg-type]  # the case's own field


async def test_the_latest_use_of_a_token_is_recorded(store: Store) -> None:
    first, second = (await create(store)).token, (await create(store)).token
    for uses in ({first.id: NOW, second.id: NOW, "tok_unknown": NOW}, {first.id: NOW - timedelta(hours=1)}):
        async with store.transaction() as connection:
            await tokens.record_uses(connection, uses)
    async with store.reading() as connection:
        assert [token.last_used_at for token in await tokens.list_all(connection)] == [NOW, NOW]
