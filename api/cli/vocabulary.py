"""Commands for the terms that operators add to a vocabulary: tested, added, listed and removed."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import AS_JSON, checked, command_actor, opened_store, run_now

if TYPE_CHECKING:
    from mappings.platforms import Platform, Platforms
    from mappings.vocabulary.entries import Term
    from store.vocabulary_terms import AddedTerm

MAX_SPELLING = 60  # letters
MAX_TERMS = 1000  # at once, of all platforms
SHOWN_NAMES = 5

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
    from store import vocabulary_terms

    _, platform = _platforms(reference)
    term = _term(platform, spellings, words, filters)

    async def write() -> "AddedTerm":
        async with opened_store() as store, store.transaction() as connection:
            if len(await vocabulary_terms.read(connection)) >= MAX_TERMS:
                message = f"there are {MAX_TERMS} terms, which is the limit; write some to the platform file instead"
                raise click.ClickException(message)
            text = json.dumps(term.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
            return await vocabulary_terms.add(connection, platform.id, text, command_actor(), datetime.now(UTC))

    added = run_now(write())
    click.echo(json.dumps(_describe(added), ensure_ascii=False) if as_json else f"added {added.id}")


@vocabulary.command("list")
@click.option("--removed", is_flag=True, help="The removed ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_terms(removed: bool, as_json: bool) -> None:  # click passes flags by name
    """List the added terms, those added first before.

    Example: gear-api vocabulary list
    """
    from store import vocabulary_terms

    async def find() -> list["AddedTerm"]:
        async with opened_store() as store, store.reading() as connection:
            return list(await vocabulary_terms.read(connection, removed=removed))

    found = [_describe(each) for each in run_now(find())]
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for each in found:
        state = f"removed {each['removedAt']}" if each["removedAt"] else f"added {each['createdAt']}"
        meaning = json.dumps(
            {key: value for key, value in each["term"].items() if key != "spellings"}, ensure_ascii=False
        )
        click.echo(
            "  ".join(
                [
                    each["id"],
                    str(each["platform"]),
                    ", ".join(each["term"].get("spellings", ())),
                    meaning,
                    each["author"] or "",
                    state,
                ]
            )
        )


@vocabulary.command()
@click.argument("term_id", metavar="ID")
@AS_JSON
def remove(term_id: str, as_json: bool) -> None:  # click passes flags by name
    """Remove an added term; every worker forgets it within 5 seconds.

    Example: gear-api vocabulary remove term_kq0Zr3Qm1x2v
    """
    from store import vocabulary_terms

    async def write() -> bool:
        async with opened_store() as store, store.transaction() as connection:
            return await vocabulary_terms.remove(connection, term_id, command_actor(), datetime.now(UTC))

    if not run_now(write()):
        message = f"no term that applies has the id {term_id!r}; see gear-api vocabulary list"
        raise click.ClickException(message)
    click.echo(json.dumps({"removed": term_id}) if as_json else f"removed {term_id}")


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
    from opensearchpy.exceptions import OpenSearchException

    from api.errors import ApiError

    platforms, platform = _platforms(reference)
    term = _term(platform, spellings, words, filters)
    try:
        shown = run_now(_compare(platforms, platform, query, term))
    except (ApiError, OpenSearchException) as error:
        message = f"the search failed: {error}; see GEAR_OPENSEARCH_URL and `gear-indexer doctor`"
        raise click.ClickException(message) from error
    if as_json:
        click.echo(json.dumps(shown, ensure_ascii=False))
        return
    for when, found in shown.items():
        click.echo(f"{when}: {found['total']} items")
        for name in found["names"]:
            click.echo(f"  {name}")


async def _compare(platforms: "Platforms", platform: "Platform", query: str, term: "Term") -> dict[str, Any]:
    """What a text finds before and after, with the terms of the store."""
    import orjson

    from api.engine.client import Engine
    from api.platforms.added_terms import terms_of
    from api.search.context import page_of, search_context
    from api.search.schemas.search import SearchBody
    from mappings.connection import SearchSettings
    from store import vocabulary_terms

    async with opened_store() as store, store.reading() as connection:
        present = terms_of(platform, await vocabulary_terms.read(connection))
    settings = checked(SearchSettings)
    body = checked(lambda: SearchBody(platform=platform.id, query=query, limit=SHOWN_NAMES))
    engine = Engine(settings, 30.0)
    shown = {}
    try:
        for when, terms in (("before", present), ("after", [*present, term])):
            platform.use_language(platform.extended(terms))
            context = search_context(engine, platforms, body)
            page = page_of(context.query, await engine.search_all(context.platforms, context.query.hit_requests))
            items = orjson.loads(orjson.dumps(page.gear))
            shown[when] = {"total": page.total, "names": [item["name"] for item in items]}
    finally:
        await engine.close()
    return shown


def _platforms(reference: str | None) -> "tuple[Platforms, Platform]":
    from mappings.connection import SearchSettings
    from mappings.platforms import read_platforms

    platforms = checked(lambda: read_platforms(SearchSettings().platform_files))
    if reference is None and len(platforms) > 1:
        message = f"say with --platform whose vocabulary it is: {platforms.describe()}"
        raise click.UsageError(message)
    platform = next(iter(platforms)) if reference is None else platforms.by_reference(reference)
    if platform is None:
        message = f"{reference} is no known platform; known are {platforms.describe()}"
        raise click.UsageError(message)
    return platforms, platform


def _term(platform: "Platform", spellings: tuple[str, ...], words: str, filters: tuple[str, ...]) -> "Term":
    """The term, checked as the service would; raises UsageError."""
    from pydantic import ValidationError

    from mappings.vocabulary.entries import Term

    for spelling in spellings:
        if len(spelling) > MAX_SPELLING:
            message = (
                f"a spelling has at most {MAX_SPELLING} characters, this one has {len(spelling)}: {spelling[:20]!r}…"
            )
            raise click.UsageError(message)
    values: dict[str, list[str]] = {}
    for each in filters:
        field, equals, value = each.partition("=")
        if not equals or not value:
            message = f"--filter {each!r} is not of the form FIELD=VALUE"
            raise click.UsageError(message)
        values.setdefault(field, []).append(value)
    try:
        term = Term.model_validate({"spellings": spellings, "filters": values, "words": words.strip()})
        platform.extended([term])
    except ValidationError as error:
        raise click.UsageError("; ".join(str(each["msg"]) for each in error.errors())) from None
    return term


def _describe(added: "AddedTerm") -> dict[str, Any]:
    removed = added.removed_at
    return {
        "id": added.id,
        "platform": added.platform,
        "term": json.loads(added.term),
        "author": added.author,
        "createdAt": added.created_at.isoformat(),
        "removedAt": None if removed is None else removed.isoformat(),
    }
