"""`gear-api explain`: each way in which an item is not in an answer has its reason, and the reasons are the truth."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.cli.main import main
from api.engine.client import Engine
from api.http.json_body import checked, parse
from api.search.explain.explain import Explanation, explain_item
from api.search.schemas.search import SearchBody
from api.settings import Settings
from tests.support.api.catalogue import CS2, put_index
from tests.support.app import new_token, settings_for
from tests.support.exact_json import dumps
from tests.support.examples import examples
from tests.support.platforms import shared_platforms
from tests.support.search import oracle
from tests.support.search.bodies import bodies
from tests.support.search.fixtures import SearchedItems
from tests.support.store.migrated import migrated

ITEMS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "AK-47 | Redline (Field-Tested)",
        "price": 20,
        "details": {"weapon": "AK-47"},
        "paint": {"float": 0.2, "seed": 661},
        "attachments": [{"name": "Sticker | Crown (Foil)", "wear": 0.5}],
    },
    *({"id": number, "name": "AWP | Asiimov", "price": number} for number in range(2, 9)),
]


@pytest.fixture
def loaded(opensearch_url: str, index_prefix: str, tmp_path: Any) -> Settings:
    """Settings of an index with these items."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    put_index(settings, CS2, ITEMS)
    return settings


def run(settings: Settings, number: int, body: Any, *options: str, stdin: str | None = None) -> Result:
    """Runs the command."""
    environment = {"GEAR_OPENSEARCH_URL": settings.opensearch_url, "GEAR_INDEX_PREFIX": settings.index_prefix}
    text = body if isinstance(body, str) else json.dumps(body)
    return CliRunner().invoke(main, ["explain", str(number), text, *options], env=environment, input=stdin)


def explained(settings: Settings, number: int, body: Any, *options: str) -> dict[str, Any]:
    """The report of a command that found the reason."""
    done = run(settings, number, body, "--json", *options)
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def engine(settings: Settings, method: str, path: str, **parts: Any) -> httpx.Response:
    """A request to the engine behind the service's back."""
    response = httpx.request(method, f"{settings.opensearch_url}{path}", timeout=30, **parts)
    return response.raise_for_status()


def test_the_filters_of_a_token_are_named_too(loaded: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    url = loaded.database_url
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    filters = '{"weapon": ["awp"], "attachments": {"any": [{"name": "Sticker | Crown (Foil)"}]}}'

    async def create() -> None:
        await migrated(url)
        await new_token(url, "search", filters=filters)

    asyncio.run(create())
    report = explained(loaded, 1, {"filters": {"weapon": ["AK-47"]}}, "--token", "test")
    assert report["reasons"] == ["token.filters.weapon"]
    assert {part["field"]: (part["has"], part["matches"]) for part in report["parts"][1:]} == {
        "token.filters.weapon": ("AK-47", False),
        "token.filters.attachments.any": ([{"name": "Sticker | Crown (Foil)", "wear": 0.5}], True),
        "filters.weapon": ("AK-47", True),
    }
    assert explained(loaded, 1, {"filters": {"weapon": ["AK-47"]}})["answered"]
    unknown = run(loaded, 1, {}, "--token", "nobody")
    assert unknown.exit_code == 1
    assert "'nobody' must name one token" in unknown.output


def test_the_filters_that_drop_an_item_are_named_with_what_they_ask_and_what_it_has(loaded: Settings) -> None:
    attachments = {"all": [{"name": "sticker | crown (foil)"}, {"name": "Sticker | Crown (Foil)", "maxWear": 0.1}]}
    filters = {"weapon": ["AWP", "M4A4"], "price": {"max": 50}, "float": {"max": 0.15}, "attachments": attachments}
    body = {"query": "ak47 asiimov", "filters": filters}
    report = explained(loaded, 1, body)
    assert not report["answered"]
    of_filters = ["filters.weapon", "filters.float", "filters.attachments.all.1"]
    assert report["reasons"] == [*of_filters, "query", "query"]  # the word, and the finish of just that name
    matches = {part["field"]: part["matches"] for part in report["parts"]}
    assert matches["offer"]
    assert matches["filters.price"]
    assert matches["filters.attachments.all.0"]
    weapon = next(part for part in report["parts"] if part["field"] == "filters.weapon")
    assert (weapon["requested"], weapon["has"]) == (["AWP", "M4A4"], "AK-47")
    shown = run(loaded, 1, body).stdout
    assert 'filters.weapon asks for ["AWP","M4A4"]; it has "AK-47"' in shown
    assert 'filters.float asks for {"max":0.15}; it has 0.2' in shown
    assert '"maxWear":0.1' in shown
    assert '"wear":0.5' in shown
    assert "asiimov" in shown.splitlines()[-1]


def test_an_item_that_was_never_loaded_is_not_indexed(loaded: Settings) -> None:
    report = explained(loaded, 99, {})
    assert (report["answered"], report["reasons"]) == (False, ["not_indexed"])
    assert "rejects" in report["sentences"][0]


def test_an_item_of_a_generation_that_does_not_serve_is_distinguished_from_one_that_is_nowhere(
    loaded: Settings,
) -> None:
    before = explained(loaded, 8, {})["index"]
    put_index(loaded, CS2, ITEMS[:-1])
    report = explained(loaded, 8, {})
    assert report["reasons"] == ["other_generation"]
    assert before in report["sentences"][0]
    assert report["index"] != before


def test_a_platform_without_an_index_is_not_loaded(opensearch_url: str, index_prefix: str, tmp_path: Any) -> None:
    report = explained(settings_for(opensearch_url, index_prefix, tmp_path), 1, {})
    assert (report["reasons"], report["index"]) == (["not_loaded"], None)


def test_an_item_that_an_order_binds_is_not_on_offer(loaded: Settings) -> None:
    alias = f"{loaded.index_prefix}-730"
    engine(loaded, "POST", f"/{alias}/_update/1?refresh=true", json={"doc": {"bound": True}})
    report = explained(loaded, 1, {})
    assert report["reasons"] == ["bound"]
    assert "order" in report["sentences"][0]


def test_an_item_that_was_written_a_moment_ago_is_there_soon(loaded: Settings) -> None:
    alias = f"{loaded.index_prefix}-730"
    engine(loaded, "PUT", f"/{alias}/_settings", json={"index": {"refresh_interval": "-1"}})
    source = engine(loaded, "GET", f"/{alias}/_source/1").json()
    engine(loaded, "PUT", f"/{alias}/_doc/50", json={**source, "id": 50})
    assert explained(loaded, 50, {})["reasons"] == ["not_yet"]
    engine(loaded, "POST", f"/{alias}/_refresh")
    assert explained(loaded, 50, {})["answered"]


def test_an_item_of_the_answer_has_its_rank_and_one_of_another_page_its_page(loaded: Settings) -> None:
    body = {"query": "awp", "sort": "price_desc", "limit": 3, "page": 2}
    report = explained(loaded, 4, body)
    assert (report["answered"], report["reasons"]) == (True, [])
    assert (report["rank"], report["page"], report["total"]) == (5, 2, 7)
    other = explained(loaded, 2, body)
    assert (other["answered"], other["reasons"], other["rank"], other["page"]) == (False, ["page"], 7, 3)
    assert "page 2 was asked for" in other["sentences"][0]


@pytest.mark.parametrize("sort", ["price_asc", "name_asc"])
def test_with_groups_the_hit_of_a_name_is_its_cheapest_item(loaded: Settings, sort: str) -> None:
    body = {"groupBy": "name", "sort": sort}
    hidden = explained(loaded, 5, body)
    assert (hidden["answered"], hidden["reasons"]) == (False, ["grouped"])
    assert "item 2" in hidden["sentences"][0]
    shown = explained(loaded, 2, {**body, "limit": 1, "page": 1 if sort == "price_asc" else 2})
    assert (shown["answered"], shown["total"]) == (True, 2)


def test_the_body_may_come_from_stdin_and_the_platform_by_its_slug(loaded: Settings) -> None:
    done = run(loaded, 1, "-", "--platform", "cs2", stdin='{"query": "redline"}')
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "it is in the response, number 1 of 1"


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("{", (), "invalid_json"),
        ("[]", (), "JSON object"),
        ({"filters": {"weapon": [""]}}, (), "filters.weapon.0"),
        ({"page": 501}, (), "page_window_exceeded"),
        ({"platform": 5}, (), "5 is no known platform"),
        ({"platform": 5}, ("--platform", "730"), "unknown_platform"),
        ({}, ("--platform", "chess"), "chess is no known platform"),
    ],
)
def test_what_cannot_be_asked_is_an_error_that_says_so(
    loaded: Settings, body: Any, options: tuple[str, ...], message: str
) -> None:
    done = run(loaded, 1, body, *options)
    assert done.exit_code != 0
    assert message in done.stderr
    as_json = run(loaded, 1, body, "--json", *options)
    assert as_json.exit_code != 0
    assert message in json.loads(as_json.stdout)["error"]


def test_an_engine_that_does_not_answer_is_an_error_that_names_the_setting(tmp_path: Any) -> None:
    done = run(settings_for("http://127.0.0.1:9", "nowhere", tmp_path), 1, {})
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "OpenSearch cannot be reached at http://127.0.0.1:9 (GEAR_OPENSEARCH_URL): " in done.stderr
    assert len(done.stderr.splitlines()) == 1


async def _explained(url: str, prefix: str, number: int, body: dict[str, Any]) -> Explanation:
    platforms = shared_platforms()
    platform = platforms.by_id(730)
    assert platform is not None
    settings = Settings(_env_file=None, opensearch_url=url, index_prefix=prefix)
    engine = Engine(settings, 30.0)
    try:
        return await explain_item(engine, platforms, platform, number, checked(SearchBody, parse(dumps(body).encode())))
    finally:
        await engine.close()


@settings(max_examples=examples(15, 60), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_reasons_are_the_truth(searched_items: SearchedItems, opensearch_url: str, data: Any) -> None:
    body = {**data.draw(bodies(searched_items.values)), "groupBy": None}  # the place is told among items
    item = data.draw(st.sampled_from(searched_items.items))
    explanation = asyncio.run(_explained(opensearch_url, searched_items.prefix, item["id"], body))
    assert {part.matches for part in explanation.parts} == (
        {True} if item in oracle.hits_of(searched_items.items, body) else {True, False}
    )
    page, total = oracle.response(searched_items.items, body)
    assert explanation.total in (None, total)
    if page is not None:
        assert explanation.answered == (item["id"] in page)
    assert explanation.answered == (not explanation.reasons)
