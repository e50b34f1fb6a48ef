"""`gear-api explain`: why an item is or is not in a search's response."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from api.cli.context import opened_engine, platform_named, run_on_store, search_errors, search_settings, token_named

if TYPE_CHECKING:
    from api.search.explain.explain import Explanation
    from mappings.platforms import Platforms
    from store.auth.tokens import Token


@click.command(context_settings={"max_content_width": 100})
@click.argument("number", metavar="ID", type=int)
@click.argument("body", metavar="BODY")
@click.option(
    "--platform", metavar="ID", help="The item's platform, by id or slug.  [default: the body's, or the only one]"
)
@click.option("--token", "id_or_name", help="Explain the response to this token, which may force filters.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, also on failure.")
def explain(number: int, body: str, *, platform: str | None, id_or_name: str | None, as_json: bool) -> None:
    """Explain why an item is or is not in a search's response.

    BODY is the search as it was sent to POST /v1/gear/search, or `-` for stdin. The engine evaluates every condition
    for exactly this item; one that meets them all is looked up among the hits. The exit code is 0 when the reason was
    found, whatever it is.

    Example: gear-api explain 40000012345 '{"platform": 730, "query": "redline"}'
    """
    import json

    try:
        token = None if id_or_name is None else run_on_store(lambda store: token_named(store, id_or_name))
        explanation = _explanation(number, body, platform, token)
    except click.ClickException as error:
        if as_json:
            click.echo(json.dumps({"id": number, "error": error.message}))
        raise
    click.echo(json.dumps(asdict(explanation), ensure_ascii=False) if as_json else report(explanation))


def report(explanation: "Explanation") -> str:
    """The explanation for people: a line for each condition, and the reasons last."""
    from api.search.explain.explain import shown

    title = f"item {explanation.id}" + ("" if explanation.name is None else f", {explanation.name}")
    lines = [f"{title}, in {explanation.index}" if explanation.index else title]
    for part in explanation.parts:
        plain = {"offer": "on offer", "hidden": "not hidden by an operator"}
        condition = plain.get(part.field) or f"{part.field} {shown(part.requested)}"
        lines.append(f"  {'yes' if part.matches else 'NO '}  {condition}")
    return "\n".join([*lines, *explanation.sentences])


def _explanation(number: int, body: str, reference: str | None, token: "Token | None") -> "Explanation":
    """Everything up to the report; raises ClickException with what to do next."""
    import asyncio
    import sys

    from api.http import json_body
    from api.search.explain.explain import explain_item
    from api.search.forced_filters import forced_filters
    from api.search.schemas.search import SearchBody

    settings, platforms = search_settings()
    text = sys.stdin.read() if body == "-" else body
    unknown_entries = _read_entries(platforms)

    async def explained() -> "Explanation":
        search = json_body.checked(SearchBody, json_body.parse(text.encode("utf-8", "surrogateescape")))
        forced = None if token is None else forced_filters(token)
        of_body = None if search.platform is None else str(search.platform)
        platform = platform_named(platforms, of_body if reference is None else reference)
        async with opened_engine(settings) as engine:
            return await explain_item(engine, platforms, platform, number, search, forced)

    with search_errors(settings):
        explanation = asyncio.run(explained())
    if unknown_entries is not None:
        click.echo(f"explained without the terms that were added to the vocabulary: {unknown_entries}", err=True)
    return explanation


def _read_entries(platforms: "Platforms") -> str | None:
    """Adds the entries of the store to the vocabularies; why they are not known, if they are not."""
    from api.vocabulary.entries import read_entries

    try:
        run_on_store(lambda store: read_entries(store, platforms))
    except click.ClickException as error:
        return error.message
    return None
