"""Commands for what operators add to a vocabulary, and for what buyers searched for in vain."""

import json
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import AS_JSON, checked, command_actor, opened_store, platform_named, run_now, search_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.vocabulary.schemas import VocabularyBody
    from mappings.connection import SearchSettings
    from mappings.platforms import Platform, Platforms
    from store.unanswered_searches import UnansweredSearch

MAX_DAYS = 30
MAX_TEXTS = 1000

_WORDS = click.option("--words", default="", help="The words of names that the spelling stands for.")
_FILTERS = click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="What it stands for, as `quality=Souvenir`; repeatable.",
)
_PLATFORM = click.option(
    "--platform", "reference", metavar="ID", help="The platform, by id or slug.  [default: the only one]"
)


@click.group()
def vocabulary() -> None:
    """Add what buyers write to a platform's vocabulary, while the service runs.

    Example: gear-api vocabulary add dlore --words "dragon lore"
    """


@vocabulary.command()
@click.argument("spellings", nargs=-1, required=True)
@_WORDS
@_FILTERS
@_PLATFORM
@AS_JSON
def add(
    spellings: tuple[str, ...], words: str, filters: tuple[str, ...], reference: str | None, *, as_json: bool
) -> None:
    """Add spellings of something; every worker understands them within 5 seconds.

    A spelling that has a meaning already gets one more: items of either are found.

    Example: gear-api vocabulary add dlore "d lore" --words "dragon lore"
    """
    _add(_body(term=_term(spellings, words, filters)), reference, as_json=as_json)


@vocabulary.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--text", "texts", multiple=True, required=True, help="The whole text of a search; repeatable.")
@_PLATFORM
@AS_JSON
def pin(names: tuple[str, ...], texts: tuple[str, ...], reference: str | None, *, as_json: bool) -> None:
    """Put items with these names first for a text, in this order.

    They are found by the text whatever it means, and come first by relevance. No pin breaks a filter, an amount or an
    exclusion.

    Example: gear-api vocabulary pin "AWP | Dragon Lore (Factory New)" --text "most wanted"
    """
    _add(_body(pin={"texts": texts, "names": names}), reference, as_json=as_json)


@vocabulary.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--text", "texts", multiple=True, help="Only for this whole text of a search; repeatable.")
@_PLATFORM
@AS_JSON
def hide(names: tuple[str, ...], texts: tuple[str, ...], reference: str | None, *, as_json: bool) -> None:
    """Leave items with these names out of all searches, or of those for a text.

    They can still be read and ordered by their id.

    Example: gear-api vocabulary hide "Souvenir Charm | Broken"
    """
    _add(_body(hide={"texts": texts, "names": names}), reference, as_json=as_json)


@vocabulary.command("list")
@click.option("--removed", is_flag=True, help="The removed ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_terms(removed: bool, as_json: bool) -> None:  # click passes flags by name
    """List what was added, first what was added first.

    Example: gear-api vocabulary list
    """
    from api.vocabulary import entries

    async def find() -> list[dict[str, Any]]:
        async with opened_store() as store:
            return [entries.described(row) for row in await entries.read(store, removed=removed)]

    found = run_now(find())
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for each in found:
        click.echo("  ".join([each["id"], str(each["platform"]), *_columns(each)]))


def _columns(entry: dict[str, Any]) -> list[str]:
    """An entry for people: what it is, who added it and when."""
    kind = next((name for name in ("term", "pin", "hide") if entry[name]), "unknown")
    fields = entry[kind] if kind != "unknown" else {}
    texts = fields.get("spellings") or fields.get("texts") or ["every text"]
    meaning = {key: value for key, value in fields.items() if key not in ("spellings", "texts") and value}
    state = f"removed {entry['removedAt']}" if entry["removedAt"] else f"added {entry['createdAt']}"
    return [kind, ", ".join(texts), json.dumps(meaning, ensure_ascii=False), entry["author"] or "", state]


@vocabulary.command()
@click.argument("entry_id", metavar="ID")
@AS_JSON
def remove(entry_id: str, as_json: bool) -> None:  # click passes flags by name
    """Remove what was added; every worker forgets it within 5 seconds.

    Example: gear-api vocabulary remove term_kq0Zr3Qm1x2v
    """
    from api.vocabulary import entries

    async def write() -> bool:
        async with opened_store() as store:
            return await entries.remove(store, entry_id, command_actor())

    if not run_now(write()):
        message = f"nothing that applies has the id {entry_id!r}; see gear-api vocabulary list"
        raise click.ClickException(message)
    click.echo(json.dumps({"removed": entry_id}) if as_json else f"removed {entry_id}")


@vocabulary.command("test")
@click.argument("query")
@click.argument("spellings", nargs=-1, required=True)
@_WORDS
@_FILTERS
@_PLATFORM
@AS_JSON
def try_term(
    query: str,
    spellings: tuple[str, ...],
    words: str,
    filters: tuple[str, ...],
    reference: str | None,
    *,
    as_json: bool,
) -> None:
    """Search for QUERY as it is, and as if the spellings were added; nothing is changed.

    Example: gear-api vocabulary test "awp dlore" dlore --words "dragon lore"
    """
    settings, platforms = _platforms()
    platform = platform_named(platforms, reference)
    body = _body(term=_term(spellings, words, filters))
    with search_errors(settings):
        shown = run_now(_compare(settings, platforms, platform, query, body))
    if as_json:
        click.echo(json.dumps(shown, ensure_ascii=False))
        return
    for when, found in shown.items():
        click.echo(f"{when}: {found['total']} items")
        for name in found["names"]:
            click.echo(f"  {name}")


async def _compare(
    settings: "SearchSettings", platforms: "Platforms", platform: "Platform", query: str, body: "VocabularyBody"
) -> dict[str, Any]:
    """What a text finds before and after, with the entries of the store."""
    from api.engine.client import Engine
    from api.vocabulary import entries
    from api.vocabulary.trial import compare

    async with opened_store() as store:
        rows = list(await entries.read(store, platform))
    engine = Engine(settings, 30.0)
    try:
        return await compare(engine, platforms, platform, query, rows, entries.stored(body))
    finally:
        await engine.close()


def _platforms() -> "tuple[SearchSettings, Platforms]":
    from mappings.connection import SearchSettings
    from mappings.platforms import read_platforms

    settings = checked(SearchSettings)
    return settings, checked(lambda: read_platforms(settings.platform_files))


def _add(body: "VocabularyBody", reference: str | None, *, as_json: bool) -> None:
    from api.errors import ApiError
    from api.vocabulary import entries

    platform = platform_named(_platforms()[1], reference)

    async def write() -> dict[str, Any]:
        async with opened_store() as store:
            return entries.described(await entries.add(store, platform, body, command_actor()))

    try:
        added = run_now(write())
    except ApiError as error:
        raise click.ClickException(error.message) from None
    click.echo(json.dumps(added, ensure_ascii=False) if as_json else f"added {added['id']}")


def _term(spellings: tuple[str, ...], words: str, filters: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    for each in filters:
        field, equals, value = each.partition("=")
        if not equals or not value:
            message = f"--filter {each!r} is not of the form FIELD=VALUE"
            raise click.UsageError(message)
        values.setdefault(field, []).append(value)
    return {"spellings": list(spellings), "filters": values, "words": words}


def _body(**entry: Any) -> "VocabularyBody":
    """The entry, checked as the service does; raises UsageError."""
    from api.errors import ApiError
    from api.http.json_body import checked as checked_body
    from api.vocabulary.schemas import VocabularyBody

    try:
        return checked_body(VocabularyBody, json.loads(json.dumps(entry)))
    except ApiError as error:
        raise click.UsageError("; ".join(f"{each.field}: {each.message}" for each in error.details)) from None


@click.command()
@click.option("--unanswered", is_flag=True, help="Texts that found nothing, or not all of what they say.")
@click.option("--platform", "reference", metavar="ID", help="Of one platform, by id or slug.  [default: all]")
@click.option("--days", type=click.IntRange(1, MAX_DAYS), default=MAX_DAYS, show_default=True, help="Of so many days.")
@click.option(
    "--limit", type=click.IntRange(1, MAX_TEXTS), default=100, show_default=True, help="How many texts at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def searches(unanswered: bool, reference: str | None, days: int, limit: int, as_json: bool) -> None:
    """List the texts that were searched for in vain, the most frequent first.

    `none`: nothing was found. `partial`: words were left out. `typos`, `all_typos`, `first_letters`: similar words were
    taken. Texts are folded, counted by day without who searched, and kept for 30 days.

    Example: gear-api searches --unanswered --platform cs2 --days 7
    """
    from api.search.unanswered import first_day, unanswered_entry
    from store import unanswered_searches

    if not unanswered:
        message = "say --unanswered: no other searches are counted"
        raise click.UsageError(message)
    platform = None
    if reference is not None:
        platform = platform_named(_platforms()[1], reference).id

    async def find() -> "Sequence[UnansweredSearch]":
        async with opened_store() as store, store.reading() as connection:
            return await unanswered_searches.read(connection, first_day(days), platform, limit)

    found = [unanswered_entry(each) for each in run_now(find())]
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for each in found:
        when = each["firstDay"] if each["firstDay"] == each["lastDay"] else f"{each['firstDay']} to {each['lastDay']}"
        click.echo(f"{each['count']:>7}  {each['reading']:<13}  {each['platform']:>5}  {when:<24}  {each['text']}")
