"""Suggestions are asked for as in golden files, and put into one order; a typed text is read as it stands."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.engine.responses import EngineResponse
from api.search.parsing.prefix import PrefixQuery
from api.search.suggest.requests import (
    Suggestion,
    best,
    count_request,
    of_kinds,
    suggestion_queries,
    suggestion_request,
    suggestions_of,
)
from api.search.suggest.suggest import suggest
from mappings.fields import SUGGESTED
from mappings.folding import fold
from tests.support.golden import Golden
from tests.support.platforms import shared_platforms
from tests.support.search.clauses import leaves
from tests.support.search.engines import NoEngine, ScriptedEngine


@pytest.mark.parametrize(("name", "fuzzy"), [("strictly", False), ("loosely", True)])
def test_suggestions_are_asked_for_as_in_their_golden_file(golden: Golden, name: str, fuzzy: bool) -> None:
    queries = suggestion_queries(PrefixQuery("m4a1 printstraem"), 8, fuzzy=fuzzy)
    assert [(query.row.kind, query.begins) for query in queries] == [
        (row.kind, begins) for row in SUGGESTED for begins in (True, False)
    ]
    golden(f"suggestions/{name}", [suggestion_request(query) for query in queries])


def test_known_values_are_counted_as_in_their_golden_file(golden: Golden) -> None:
    texts = [("item", "AK-47 | Redline (Field-Tested)"), ("finish", "Redline"), ("item", "AK-47 | Fade"), ("set", "A")]
    values = [Suggestion(text, kind, 1, begins=False) for kind, text in texts]
    forced = ({"term": {"platform": 730}},)
    golden("suggestions/values", [count_request(row, texts, forced) for row, texts in of_kinds(values)])


@pytest.mark.parametrize(
    ("typed", "value", "strictly", "fuzzily"),
    [
        ("ak47", "AK-47 | Redline", True, True),
        ("ak 4", "AK-47 | Redline", True, True),
        ("redl ak", "AK-47 | Redline", False, False),  # only the last word may be a beginning
        ("ak redl", "AK-47 | Redline", True, True),
        ("redlien", "AK-47 | Redline", False, True),
        ("edline", "AK-47 | Redline", False, False),  # the first letter is never wrong
        ("ak48", "AK-47 | Redline", False, False),  # nor a digit
        ("fad", "Faz", False, False),  # three letters have no edits
        ("jorm", "Jörmungandr", True, True),
        ("jormungadnr colection", "Jörmungandr Collection", False, True),
        ("strasse", "Straße", True, True),
        ("stattrak knife", "★ StatTrak™ Knife", True, True),
        ("i ♥", "I ♥ $", True, True),
    ],
)
def test_a_typed_text_matches_a_value(typed: str, value: str, strictly: bool, fuzzily: bool) -> None:
    query = PrefixQuery(typed)
    assert (query.matches(value, fuzzy=False), query.matches(value, fuzzy=True)) == (strictly, fuzzily)


@pytest.mark.parametrize(
    ("typed", "value", "matches"),
    [
        ("bfk fa", "★ Butterfly Knife | Fade (Factory New)", True),
        ("bfk fa", "★ Karambit | Fade (Factory New)", False),
        ("ak redl st", "StatTrak™ AK-47 | Redline (Field-Tested)", False),  # only the last word may be a beginning
        ("st ak redl", "StatTrak™ AK-47 | Redline (Field-Tested)", True),
        ("kato 14 ti", "Sticker | Titan (Holo) | Katowice 2014", True),
        ("5-7 fai", "Five-SeveN | Fairy Tale (Field-Tested)", True),
    ],
)
def test_slang_is_matched_by_the_names_that_it_stands_for(typed: str, value: str, matches: bool) -> None:
    assert PrefixQuery(typed, VOCABULARIES).matches(value, fuzzy=False) is matches


VOCABULARIES = tuple(platform.merged_vocabulary for platform in shared_platforms())


@given(
    st.text(max_size=100) | st.text("ab c1", min_size=50, max_size=100) | st.sampled_from(["st " * 33, "m4 ak " * 16])
)
def test_any_text_is_asked_for_within_the_engines_limit_of_clauses(text: str) -> None:
    # OpenSearch refuses a query of more than 1,024 clauses (indices.query.bool.max_clause_count)
    typed = PrefixQuery(text, VOCABULARIES)
    for query in suggestion_queries(typed, 8, fuzzy=True):
        assert len(list(leaves(suggestion_request(query)["query"]))) < 1000


def test_values_fold_as_the_index_folds_them() -> None:
    assert fold("  ★ StatTrak™  Ōni  ") == "stattrak oni"


def test_what_begins_with_the_text_comes_first_then_the_most_offered_and_each_once() -> None:
    candidates = [
        Suggestion("b", "item", 9, begins=False),
        Suggestion("c", "item", 1, begins=False),
        Suggestion("c", "item", 1, begins=True),
        Suggestion("a", "set", 9, begins=False),
        Suggestion("a", "item", 9, begins=False),
    ]
    ordered = [(suggestion.text, suggestion.kind) for suggestion in best(candidates, 20)]
    assert ordered == [("c", "item"), ("a", "item"), ("a", "set"), ("b", "item")]
    assert len(best(candidates, 2)) == 2


def response(*buckets: tuple[str, int], others: int = 0, error: int = 0) -> EngineResponse:
    terms = {
        "buckets": [{"key": key, "doc_count": count} for key, count in buckets],
        "sum_other_doc_count": others,
        "doc_count_error_upper_bound": error,
    }
    return {"aggregations": {"texts": terms}}


def test_what_may_not_be_the_best_or_exact_is_asked_for_again() -> None:
    queries = {(query.row.kind, query.begins): query for query in suggestion_queries(PrefixQuery("crown"), 1)}
    item, sticker = queries["item", False], queries["sticker", False]
    assert suggestions_of(item, response(("Crown", 3), others=5)) == [Suggestion("Crown", "item", 3, begins=False)]
    assert suggestions_of(item, response(("Crown", 3), error=1)) is None
    # the other stickers of the same items are no suggestions; the ones asked for may be behind them
    assert suggestions_of(sticker, response(("Fade", 4), ("Crown", 3))) == [
        Suggestion("Crown", "sticker", 3, begins=False)
    ]
    assert suggestions_of(sticker, response(("Fade", 4), ("Crown", 3), others=1)) is None
    begins = queries["sticker", True]
    assert suggestions_of(begins, response(("Fade", 4), ("Crown A", 3), ("A Crown", 2))) == [
        Suggestion("Crown A", "sticker", 3, begins=True)
    ]


async def suggested(text: str, engine: ScriptedEngine, limit: int = 2) -> list[str]:
    answered = orjson.loads(await suggest(engine, list(shared_platforms()), text, limit))
    return [suggestion["text"] for suggestion in answered["suggestions"]]


async def test_a_text_without_words_takes_no_request() -> None:
    assert await suggested("  ", NoEngine()) == []


async def test_a_short_text_looks_for_beginnings_first() -> None:
    enough = ScriptedEngine(lambda _: response(("Ak A", 3), ("Ak B", 2)))
    assert await suggested("ak", enough) == ["Ak A", "Ak A"]  # the same text as an item and as a set
    few = ScriptedEngine(lambda _: response())
    assert await suggested("ak", few) == []
    beginnings = len(SUGGESTED)
    assert [len(bodies) for bodies in enough.round_trips] == [beginnings]
    assert [len(bodies) for bodies in few.round_trips][:2] == [beginnings, beginnings]
    long = ScriptedEngine(lambda _: response(("Ak-47 | Redline", 3)))
    assert await suggested("ak-47 redline", long) == ["Ak-47 | Redline"] * 2
    assert [len(bodies) for bodies in long.round_trips] == [2 * beginnings]


async def test_similar_words_are_suggested_only_where_nothing_matches() -> None:
    engine = ScriptedEngine(lambda body: response(("Redline", 1)) if "fuzziness" in str(body) else response())
    assert set(await suggested("redlnie", engine)) == {"Redline"}
    assert len(engine.round_trips) == 3
    assert await suggested("p90 2014", ScriptedEngine(lambda _: response())) == [], "numbers are never mistyped"


async def test_all_values_are_requested_where_the_most_frequent_are_not_enough() -> None:
    def engine_response(body: Any) -> EngineResponse:
        complete = "shard_size" in body["aggs"]["texts"]["terms"]
        return response(("Crown", 3)) if complete else response(("Fade", 4), others=1, error=1)

    engine = ScriptedEngine(engine_response)
    assert set(await suggested("crown", engine)) == {"Crown"}
    assert len(engine.round_trips) == 2


@pytest.mark.parametrize(
    ("typed", "value", "matches"),
    [
        ("бабоч", "Butterfly Knife", True),
        ("керамбит гради", "★ Karambit | Fade (Factory New)", True),
        ("蝴蝶刀渐变", "★ Butterfly Knife | Fade (Factory New)", True),
        ("蝴蝶刀渐变", "★ Karambit | Fade (Factory New)", False),
        ("бабо fade", "★ Butterfly Knife | Fade (Factory New)", False),  # only the last word may be unfinished
    ],
)
def test_other_languages_suggest_the_items_own_name(typed: str, value: str, matches: bool) -> None:
    assert PrefixQuery(typed, VOCABULARIES).matches(value, fuzzy=False) is matches


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("couteau pap", [("couteau", "Butterfly Knife"), ("pap", "Butterfly Knife")]),
        (
            "kit de música de stattrak",  # the second `de` says nothing
            [("kit", "Music Kit"), ("de", "Music Kit"), ("música", "Music Kit"), ("stattrak", "StatTrak")],
        ),
        ("toile cramoisie", [("toile", "crimson web"), ("cramoisie", "crimson web")]),
        ("redline q", [("redline", ""), ("q", "")]),  # one letter begins too much
    ],
)
def test_the_last_words_may_begin_a_name_in_another_language(typed: str, words: list[tuple[str, str]]) -> None:
    vocabularies = tuple(platform.merged_vocabulary for platform in shared_platforms())
    completed = PrefixQuery(typed, vocabularies, completed=True).words
    assert [word.text for word in completed] == [text for text, _ in words]
    assert all(name in (word.names or [""]) for word, (_, name) in zip(completed, words, strict=True))
