"""`gear-api reconcile`: decides about items that the index binds and no order does, as after a restore."""

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import (
    AS_JSON,
    command_actor,
    opened_engine,
    opened_store,
    platform_named,
    run_now,
    search_settings,
)
from mappings.timestamps import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mappings.connection import SearchSettings
    from mappings.platforms import Platform
    from store.connection.engine import Store

PAGE = 500
ITEM = click.IntRange(-(2**63), 2**63 - 1)  # as the database has it


@click.command()
@click.option("--platform", metavar="ID", help="By id or slug.  [default: the only one]")
@click.option("--keep", "to_keep", multiple=True, type=ITEM, metavar="ITEM", help="Bind this item; repeat for more.")
@click.option("--keep-all", is_flag=True, help="Bind all that the index binds: nothing of it can be ordered.")
@click.option("--release", "to_release", multiple=True, type=ITEM, metavar="ITEM", help="Offer this item again.")
@AS_JSON
def reconcile(
    platform: str | None, to_keep: tuple[int, ...], keep_all: bool, to_release: tuple[int, ...], as_json: bool
) -> None:
    """List the items that the index binds and no order does, and decide about each: keep it bound, or release it.

    A database that was restored from a backup lacks the orders placed since. Their items are bound in the index alone.
    What is kept is bound in the database, for loads, repairs and orders alike, until it is released. The exit code is
    1 while items are undecided.

    Example: gear-api reconcile --platform cs2 --keep-all
    """
    if set(to_keep) & set(to_release):
        raise click.UsageError("an item is either kept or released")
    settings, platforms = search_settings()
    target_platform = platform_named(platforms, platform)
    shown = run_now(_reconcile(settings, target_platform, set(to_keep), set(to_release), keep_all=keep_all))
    if as_json:
        click.echo(json.dumps(shown))
    else:
        _print(shown)
    if shown["undecided"]:
        raise SystemExit(1)


def _print(shown: dict[str, Any]) -> None:
    for item in shown["undecided"]:
        click.echo(f"{item}  undecided: the index binds it, no order does")
    for item, since in shown["held"].items():
        click.echo(f"{item}  kept since {since}")
    click.echo(
        f"{len(shown['undecided'])} undecided, {len(shown['held'])} kept; "
        f"now kept {len(shown['kept'])}, released {len(shown['released'])}",
        err=True,
    )


async def _reconcile(
    settings: "SearchSettings", platform: "Platform", to_keep: set[int], to_release: set[int], *, keep_all: bool
) -> dict[str, Any]:
    from store.orders import holds

    in_index = await _bound_in_index(settings, platform)
    actor, now = command_actor(), datetime.now(UTC)
    async with opened_store() as store:
        undecided = await _undecided(store, platform.id, in_index, now)
        done: dict[str, list[int]] = {"kept": [], "released": []}
        to_keep = to_keep | (set(undecided) - to_release if keep_all else set())
        for change, decide, items in (("kept", holds.keep, to_keep), ("released", holds.release, to_release)):
            for page in _pages(sorted(items)):
                async with store.transaction() as connection:
                    done[change] += await decide(connection, platform.id, page, actor, now)
        async with store.reading() as connection:
            hold_times = await holds.list_held(connection, platform.id)
    decided = {*done["kept"], *done["released"]}
    return {
        "platform": platform.id,
        "undecided": [item for item in undecided if item not in decided],
        "held": {item: rfc3339(at) for item, at in hold_times.items()},
        **done,
    }


async def _bound_in_index(settings: "SearchSettings", platform: "Platform") -> list[int]:
    """The ids of all items that the index binds, ascending; raises ClickException where it does not answer."""
    from api.errors import ApiError

    items: list[int] = []
    body: dict[str, Any] = {
        "query": {"term": {"bound": True}},
        "sort": [{"id": "asc"}],
        "size": PAGE,
        "_source": False,
        "track_total_hits": False,
    }
    try:
        async with opened_engine(settings) as engine:
            while True:
                response = await engine.search([platform], {**body, "search_after": items[-1:]} if items else body)
                page = [int(hit["sort"][0]) for hit in response["hits"]["hits"]]
                items += page
                if len(page) < PAGE:
                    return items
    except ApiError as error:
        raise click.ClickException(f"the index cannot be read: {error}") from error


async def _undecided(store: "Store", platform: int, in_index: "Sequence[int]", now: datetime) -> list[int]:
    """Those of the items that nothing in the database accounts for."""
    from store.outbox.index_outbox import may_be_bound_among

    undecided: list[int] = []
    for page in _pages(in_index):
        async with store.reading() as connection:
            accounted_items = await may_be_bound_among(connection, platform, page, now)
        undecided += [item for item in page if item not in accounted_items]
        await asyncio.sleep(0)
    return undecided


def _pages(items: "Sequence[int]") -> "list[Sequence[int]]":
    return [items[begin : begin + PAGE] for begin in range(0, len(items), PAGE)]
