"""What is told is the same with the prefilter as without: it leaves out nothing that the engine finds."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.changes.entries import Difference, Side
from api.engine.feed import FeedEngine
from api.saved_searches.compiled import Compiled, compiled, read_request, request_of, sequences_by_clause
from api.saved_searches.prefilter import Batch, Fields, new_candidates, set_bits
from indexer.documents.checked_item import checked_item
from indexer.documents.document import NOT_IN_LISTING, index_document
from store.saved_searches.searches import SavedSearch, new_id
from tests.support.api.catalogue import CS2
from tests.support.app import settings_for
from tests.support.exact_json import dumps
from tests.support.examples import examples
from tests.support.indices import drop_indices
from tests.support.platforms import shared_platforms
from tests.support.search.bodies import bodies
from tests.support.search.fixtures import known_of
from tests.support.search.items import make_items

CHANGES = 400
SEARCHES = 12
PLATFORMS = shared_platforms()
ITEMS = make_items(2 * CHANGES, seed=11)
SEQS = list(range(1, CHANGES + 1))


@dataclass(frozen=True)
class Log:
    """A log of changes, and what the prefilter reads of it."""

    runner: asyncio.Runner
    engine: FeedEngine
    name: str
    fields: Fields
    before: Batch
    after: Batch

    def matches(self, searches: list[Compiled]) -> dict[str, list[int]]:
        """What the engine tells of each, without a prefilter."""
        clauses = [search.named(str(number)) for number, search in enumerate(searches)]
        return sequences_by_clause(self.runner.run(self.engine.matched(self.name, request_of(clauses, SEQS))))


def _document(item: dict[str, Any], *, with_item: bool) -> bytes:
    document = index_document(checked_item(item), CS2)
    item = document["item"]
    listing = {name: value for name, value in document.items() if name not in NOT_IN_LISTING}
    return orjson.dumps({"item": orjson.Fragment(item), **listing} if with_item else listing)


def _changes() -> Iterator[Difference]:
    """An item that comes, goes, has another price, or is another one altogether."""
    chance = random.Random(12)
    for item, other in zip(ITEMS[:CHANGES], ITEMS[CHANGES:], strict=True):
        kind = chance.choice(("listed", "gone", "price", "price", "all"))
        later = {**item, "price": other["price"]} if kind == "price" else {**other, "id": item["id"]}
        before = None if kind == "listed" else _document(item, with_item=False)
        after = None if kind == "gone" else _document(item if kind == "listed" else later, with_item=True)
        yield Difference(CS2.id, item["id"], before, after)


@pytest.fixture(scope="module")
def log(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    prefix = f"tpre{new_id()[4:12].lower().replace('_', 'x').replace('-', 'x')}"
    engine = FeedEngine(settings_for(opensearch_url, prefix, Path("unused")), 60)
    name = f"{prefix}-changes-1"
    fields = Fields(engine.properties)
    with asyncio.Runner() as runner:
        runner.run(engine.create_log(name))
        written = [line for seq, change in zip(count(1), _changes(), strict=False) for line in change.lines(seq, 1)]
        runner.run(engine.append(name, written))
        runner.run(engine.refresh(name))
        entries = runner.run(engine.matched(name, read_request(fields.read, 0, CHANGES)))
        sides = [{each.seq: each.fields for each in entries if each.side == side} for side in (Side.BEFORE, Side.AFTER)]
        yield Log(runner, engine, name, fields, Batch(fields, sides[0]), Batch(fields, sides[1]))
        runner.run(engine.close())
    drop_indices(opensearch_url, prefix)


def _compiled(log: Log, body: dict[str, Any]) -> Compiled | None:
    narrowing = {name: body[name] for name in ("platform", "query", "filters") if name in body}
    text = dumps({"name": "mine", "callbackUrl": "https://shop.example.com/hook", **narrowing})
    search = SavedSearch(
        id=new_id(),
        token_id="t",
        name="mine",
        body=text,
        body_digest="",
        callback_url="",
        sandbox=False,
        since=0,
        created_at=datetime.now(UTC),
    )
    return compiled(log.engine, PLATFORMS, log.fields, search)


@settings(max_examples=examples(12, 48), deadline=None)
@given(drawn=st.lists(bodies(known_of(ITEMS)), min_size=SEARCHES, max_size=SEARCHES))
def test_what_the_engine_tells_is_never_left_out(log: Log, drawn: list[dict[str, Any]]) -> None:
    searches = [search for body in drawn if (search := _compiled(log, body)) is not None]
    matches = log.matches(searches)
    for number, search in enumerate(searches):
        candidates = set_bits(new_candidates(search.prefilter, log.before, log.after))
        assert set(matches.get(str(number), ())) <= set(candidates), search.clause


@pytest.mark.parametrize(
    "body",
    [
        {"filters": {"name": ["AK-47 | Redline", "★ Bayonet"]}},
        {"filters": {"weapon": ["awp", "KARAMBIT"], "price": {"max": 20}}},
        {"filters": {"quality": ["★"], "color": ["war pig pink"], "float": {"min": 0.07, "max": 0.38}}},
        {"query": "redline"},
        {"query": "asiimov under 5"},
    ],
)
def test_what_can_be_judged_is_not_asked_in_vain(log: Log, body: dict[str, Any]) -> None:
    search = _compiled(log, {"platform": 730, **body})
    assert search is not None
    matches = log.matches([search])["0"]
    assert matches
    # what has words beyond ASCII is asked for as well
    candidates = set_bits(new_candidates(search.prefilter, log.before, log.after))
    unknown = 0 if "query" not in body else log.after.with_word("text", "x")[1]
    assert set(candidates) - set(matches) <= set(set_bits(unknown))
