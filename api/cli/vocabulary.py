"""Commands for what operators add to a vocabulary, and for searches without results."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import click

from api.cli.context import (
    AS_JSON,
    command_actor,
    opened_engine,
    opened_store,
    platform_named,
    read_now,
    run_now,
    run_on_store,
    search_errors,
    search_settings,
)
from store.retention_days import SEARCHES_DAYS

if TYPE_CHECKING:
    from api.vocabulary.judged import JudgedQuery, Report
    from api.vocabulary.schemas import VocabularyBody
    from store.connection.engine import Store

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
_JUDGED = click.option(
    "--judged",
    "judged_file",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Judged queries, one JSON object a line: show those whose first page changes.",
)
_FORCE = click.option("--force", is_flag=True, help="Add it although a judged query gets worse.")


def _adding_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (AS_JSON, _FORCE, _JUDGED, _PLATFORM):
        command = option(command)
    return command


@click.group()
def vocabulary() -> None:
    """Add what buyers write to a platform's vocabulary, while the service runs.

    Example: gear-api vocabulary add dlore --words "dragon lore"
    """


@vocabulary.command()
@click.argument("spellings", nargs=-1, required=True)
@_WORDS
@_FILTERS
@_adding_options
def add(spellings: tuple[str, ...], words: str, filters: tuple[str, ...], **adding: Any) -> None:
    """Add spellings of something; every worker understands them within 5 seconds.

    A spelling that has a meaning already gets one more: items of either are found. With judged queries nothing is added
    where one of them gets worse.

    Example: gear-api vocabulary add dlore "d lore" --words "dragon lore" --judged judged.ndjson
    """
    _add(_body(term=_term(spellings, words, filters)), **adding)


@vocabulary.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--text", "texts", multiple=True, required=True, help="The whole text of a search; repeatable.")
@_adding_options
def pin(names: tuple[str, ...], texts: tuple[str, ...], **adding: Any) -> None:
    """Put items with these names first for a text, in this order.

    They are found by the text whatever it means, and come first by relevance. No pin breaks a filter, an amount or an
    exclusion.

    Example: gear-api vocabulary pin "AWP | Dragon Lore (Factory New)" --text "most wanted"
    """
    _add(_body(pin={"texts": texts, "names": names}), **adding)


@vocabulary.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--text", "texts", multiple=True, help="Only for this whole text of a search; repeatable.")
@_adding_options
def hide(names: tuple[str, ...], texts: tuple[str, ...], **adding: Any) -> None:
    """Leave items with these names out of all searches, or of those for a text.

    They can still be read and ordered by their id.

    Example: gear-api vocabulary hide "Souvenir Charm | Broken"
    """
    _add(_body(hide={"texts": texts, "names": names}), **adding)


@vocabulary.command("list")
@click.option("--removed", is_flag=True, help="The removed ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_terms(removed: bool, as_json: bool) -> None:
    """List what was added, first what was added first.

    Example: gear-api vocabulary list
    """
    from api.vocabulary import entries

    async def describe(store: "Store") -> list[dict[str, Any]]:
        return [entries.described(row) for row in await entries.read(store, removed=removed)]

    descriptions = run_on_store(describe)
    if as_json:
        click.echo(json.dumps(descriptions, ensure_ascii=False))
        return
    for each in descriptions:
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
def remove(entry_id: str, as_json: bool) -> None:
    """Remove what was added; every worker forgets it within 5 seconds.

    Example: gear-api vocabulary remove term_kq0Zr3Qm1x2v
    """
    from api.vocabulary import entries

    if not run_on_store(lambda store: entries.remove(store, entry_id, command_actor())):
        raise click.ClickException(f"nothing that applies has the id {entry_id!r}; see gear-api vocabulary list")
    click.echo(json.dumps({"removed": entry_id}) if as_json else f"removed {entry_id}")


@vocabulary.command("test")
@click.argument("query")
@click.argument("spellings", nargs=-1, required=True)
@_WORDS
@_FILTERS
@_PLATFORM
@_JUDGED
@AS_JSON
def try_term(
    query: str,
    spellings: tuple[str, ...],
    words: str,
    filters: tuple[str, ...],
    reference: str | None,
    judged_file: TextIO | None,
    *,
    as_json: bool,
) -> None:
    """Search for QUERY as it is, and as if the spellings were added; nothing is changed.

    With judged queries those whose first page changes are shown too; the exit code is 1 where one of them gets worse.

    Example: gear-api vocabulary test "awp dlore" dlore --words "dragon lore"
    """
    body = _body(term=_term(spellings, words, filters))
    judgments = _read_judged(judged_file)
    shown, report = _tried(reference, query, body, judgments)
    if as_json:
        click.echo(json.dumps(_with_report(shown, report), ensure_ascii=False))
    else:
        for when, result in shown.items():
            click.echo(f"{when}: {result['total']} items")
            for name in result["names"]:
                click.echo(f"  {name}")
        _show(report)
    if report is not None and report.worse:
        raise SystemExit(1)


def _tried(
    reference: str | None, query: str | None, body: "VocabularyBody", judgments: "list[JudgedQuery]"
) -> "tuple[dict[str, Any], Report | None]":
    """What a text and the judged queries find before and after, with the entries of the store."""
    from api.vocabulary import entries, trial

    settings, platforms = search_settings()
    platform = platform_named(platforms, reference)
    entry = entries.stored(body)

    async def search() -> "tuple[dict[str, Any], Report | None]":
        async with opened_store() as store:
            rows = list(await entries.read(store, platform))
        async with opened_engine(settings) as engine:
            shown = {} if query is None else await trial.compare(engine, platforms, platform, query, rows, entry)
            if not judgments:
                return shown, None
            return shown, await trial.compare_judged(engine, platforms, platform, judgments, rows, entry)

    with search_errors(settings):
        return run_now(search())


def _read_judged(file: TextIO | None) -> "list[JudgedQuery]":
    """The judged queries of an option, none where it is absent; raises BadParameter."""
    from api.vocabulary.judged import read_judged

    try:
        return [] if file is None else read_judged(file)
    except ValueError as error:  # UnicodeDecodeError too
        raise click.BadParameter(str(error), param_hint="--judged") from None


def _with_report(shown: dict[str, Any], report: "Report | None") -> dict[str, Any]:
    return shown if report is None else {**shown, "judged": report.as_json()}


def _show(report: "Report | None") -> None:
    """Judged queries whose first page changes, for people."""
    if report is None:
        return
    click.echo(f"judged: {len(report.changes)} of {report.queries} queries change, {report.worse} worse")
    for change in report.changes:
        click.echo(f"{change.verdict}: {change.judgment.query}")
        for when, response in (("before", change.before), ("after", change.after)):
            click.echo(f"  {when}, {'right' if response.is_right else 'wrong'}: {response.first or 'nothing'}")


def _add(
    body: "VocabularyBody", reference: str | None, judged_file: TextIO | None, *, force: bool, as_json: bool
) -> None:
    from api.errors import ApiError
    from api.vocabulary import entries

    judgments = _read_judged(judged_file)
    platform = platform_named(search_settings()[1], reference)
    report = _tried(reference, None, body, judgments)[1] if judgments else None
    if not as_json:
        _show(report)
    if report is not None and report.worse and not force:
        if as_json:
            click.echo(json.dumps(_with_report({}, report), ensure_ascii=False))
        raise click.ClickException(f"nothing was added: judged queries get worse ({report.worse}); --force adds it")

    try:
        row = run_on_store(lambda store: entries.add(store, platform, body, command_actor()))
    except ApiError as error:
        raise click.ClickException(error.message) from None
    shown = _with_report(entries.described(row), report)
    click.echo(json.dumps(shown, ensure_ascii=False) if as_json else f"added {row.id}")


def _term(spellings: tuple[str, ...], words: str, filters: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    for each in filters:
        field, equals, value = each.partition("=")
        if not equals or not value:
            raise click.UsageError(f"--filter {each!r} is not of the form FIELD=VALUE")
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
@click.option(
    "--days",
    type=click.IntRange(1, SEARCHES_DAYS),
    default=SEARCHES_DAYS,
    show_default=True,
    help="Of so many days.",
)
@click.option(
    "--limit", type=click.IntRange(1, MAX_TEXTS), default=100, show_default=True, help="How many texts at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def searches(unanswered: bool, reference: str | None, days: int, limit: int, as_json: bool) -> None:
    """List the texts of searches without results, the most frequent first.

    `none`: nothing was found. `partial`: words were left out. `typos`, `all_typos`, `first_letters`, `similar_names`:
    similar words were taken. Texts are folded, counted by day without who searched, and kept for 30 days.

    Example: gear-api searches --unanswered --platform cs2 --days 7
    """
    from api.search.unanswered import first_day, unanswered_entry
    from store import unanswered_searches

    if not unanswered:
        raise click.UsageError("say --unanswered: no other searches are counted")
    platform = None
    if reference is not None:
        platform = platform_named(search_settings()[1], reference).id

    rows = read_now(lambda connection: unanswered_searches.read(connection, first_day(days), platform, limit))
    texts = [unanswered_entry(each) for each in rows]
    if as_json:
        click.echo(json.dumps(texts, ensure_ascii=False))
        return
    for each in texts:
        when = each["firstDay"] if each["firstDay"] == each["lastDay"] else f"{each['firstDay']} to {each['lastDay']}"
        click.echo(f"{each['count']:>7}  {each['reading']:<13}  {each['platform']:>5}  {when:<24}  {each['text']}")
