"""The relaxations of a text, and how they are explained."""

import re
from typing import Any

import pytest

from api.engine.responses import EngineResponse
from api.search.context import Index, SearchContext
from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import ParsedQuery, Relaxation, parse_query
from api.search.query.request import SearchQuery
from api.search.relaxation.relax import MAX_CORRECTED_WORDS, MAX_PARTIAL, relax
from api.search.relaxation.relaxations import (
    correctable_words,
    corrections,
    loose,
    meanings_as_names,
    numbers_as_words,
    single_word,
    with_similar_words,
)
from api.search.relaxation.sets import words_of_sets
from api.search.schemas.search import SearchBody
from mappings.platforms import Platform
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine
from tests.support.search.relaxations import relaxations

CS2 = next(iter(shared_platforms()))
DOTA = Platform(
    id=570,
    slug="dota2",
    name="Dota 2",
    currency="EUR",
    minor_digits=2,
    vocabulary=Vocabulary(fields={"rarity": {"Arcana": ("arc",)}}, words={"dragonclaw hook": ("hook",)}),
)


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def explained(first: ParsedQuery, used: ParsedQuery | None = None) -> dict[str, Any]:
    return interpretation(first, used or first)


def test_only_what_may_be_a_word_is_read_as_one() -> None:
    first = strict("redline 20-50 under 70")
    read = numbers_as_words(first)
    assert read is not None
    (reading,) = read.parses
    assert ([term.typed for term in reading.terms], [quantity.typed for quantity in reading.quantities]) == (
        ["redline", "20", "50"],
        ["under 70"],
    )
    assert numbers_as_words(strict("redline under 70")) is None
    assert explained(first, read)["relaxed"] == [{"typed": "20-50", "to": "words: nothing has such a price"}]


def test_a_second_meaning_is_read_where_the_first_finds_nothing() -> None:
    first = strict("buy m4a1 howl")
    read = relaxations(first)
    seconds = [each for each in read if ("weapon", ("M4A4",)) in each.parses[0].terms[-2].meanings[0].filters]
    assert [each.relaxation for each in seconds] == ["words", "words", "fillers", "fillers"]
    assert explained(first, seconds[0])["relaxed"][-1] == {"typed": "m4a1", "to": "its second meaning"}
    assert explained(first, seconds[0])["filters"] == {"weapon": ["M4A4"]}
    assert not any("second" in note["to"] for each in read[:1] for note in explained(first, each)["relaxed"])


def test_names_read_meanings_as_words_and_words_as_beginnings() -> None:
    read = meanings_as_names(strict("ruby 20"))
    assert read.parses[0].terms[-1].words[0].prefixes == ("20", "ruby20")
    assert explained(strict("ruby 20"), read)["relaxed"] == [
        {"typed": "ruby", "to": "its meaning, or that as words of the name"}
    ]
    assert explained(strict("sealed 20"), meanings_as_names(strict("sealed 20")))["relaxed"] == [
        {"typed": "20", "to": "beginnings of words"}
    ]


def test_neither_known_words_nor_numbers_nor_the_vocabulary_are_mistyped() -> None:
    first = strict("ak dragn lore p90 2014")
    assert [word.typed for word in correctable_words(first)] == ["dragn", "lore"]
    some, every = (
        with_similar_words(first, {"lore"}, Relaxation.TYPOS),
        with_similar_words(first, (), Relaxation.ALL_TYPOS),
    )
    assert some is not None
    assert every is not None
    assert [change["typed"] for change in explained(first, some)["relaxed"] if change["to"] == "similar words"] == [
        "dragn"
    ]
    assert [change["typed"] for change in explained(first, every)["relaxed"] if change["to"] == "similar words"] == [
        "dragn",
        "lore",
    ]
    assert with_similar_words(first, {"dragn", "lore"}, Relaxation.TYPOS) is None
    assert with_similar_words(strict("p90 2014"), (), Relaxation.ALL_TYPOS) is None


def relaxed(first: ParsedQuery, how: Relaxation) -> list[dict[str, Any]]:
    """What the last reading of a kind says of itself."""
    readings = [query for query in (*relaxations(first), *corrections(first, ())) if query.relaxation == how]
    changes: list[dict[str, Any]] = explained(first, readings[-1])["relaxed"]
    return changes


def narrow(read: ParsedQuery) -> list[str]:
    return [term.typed for term in read.parses[0].terms if term.narrows]


def test_words_that_narrow_become_words_of_the_name_one_after_the_other() -> None:
    first = strict("glove case")
    kinds = [(query.relaxation, narrow(query)) for query in relaxations(first)]
    assert kinds[:-1] == [("strict", ["glove", "case"]), ("words", ["case"]), ("words", []), ("names", [])]
    assert kinds[-1] == ("either", ["glove"])
    assert relaxed(first, Relaxation.WORDS) == [
        {"typed": typed, "to": "its meaning, or a word of the name"} for typed in ("glove", "case")
    ]
    assert narrow(strict("case")) == []  # alone it hides nothing that is named so


def test_what_says_nothing_of_an_item_is_left_out_where_nothing_has_it() -> None:
    first = strict("nice ak skin under 50")
    readings = [query for query in relaxations(first) if query.relaxation == Relaxation.FILLERS]
    assert {tuple(term.typed for term in query.parses[0].terms) for query in readings} == {("ak",)}
    left_out = [{"typed": typed, "to": "left out: it says nothing of an item"} for typed in ("nice", "skin")]
    assert relaxed(first, Relaxation.FILLERS)[:2] == left_out
    assert relaxed(strict("nice skin redlime"), Relaxation.TYPOS)[:2] == left_out
    only_fillers = strict("nice gun")
    assert [query.relaxation for query in relaxations(only_fillers)] == ["strict", "sets", "names", "prefixes"]


def test_how_many_stickers_are_on_the_item_is_not_left_out() -> None:
    read = relaxed(strict("ak with 4 holo stickers"), Relaxation.STICKERS)
    assert {each["typed"]: each["to"] for each in read}["4"] == "at least 4 attachments"


def test_a_bare_number_of_three_digits_is_read_as_a_seed_at_last() -> None:
    first = strict("ak case hardened 661")
    assert [query.relaxation for query in relaxations(first)][-1] == "seeds"
    assert relaxed(first, Relaxation.SEEDS) == [
        {"typed": "ak", "to": "its meaning, or a word of the name"},
        {"typed": "661", "to": "a seed"},
    ]
    assert "seeds" not in [query.relaxation for query in relaxations(strict("661"))]
    with_filler = next(query for query in relaxations(strict("need ak 661")) if query.relaxation == "seeds")
    assert [term.typed for term in with_filler.parses[0].terms] == ["ak"]


def test_several_values_of_a_field_are_any_of_them() -> None:
    explanation = explained(strict("ak redline ft/mw"))
    assert explanation["filters"] == {"weapon": ["AK-47"], "exterior": ["Field-Tested", "Minimal Wear"]}
    assert explanation["terms"][-1] == {
        "typed": "ft mw",
        "means": [{"exterior": ["Field-Tested"]}, {"exterior": ["Minimal Wear"]}],
    }
    assert len(strict("ft field-tested").parses[0].terms) == 2  # the same twice is no choice


def test_a_spelling_is_parted_as_it_is_listed() -> None:
    (reading,) = strict("stattr ak redline").parses
    assert [term.typed for term in reading.terms] == ["stattr", "ak", "redline"]


def test_a_word_is_looked_for_by_itself() -> None:
    first = strict("dragn lore under 5")
    (word, _) = correctable_words(first)
    only = single_word(first, word)
    assert (only.text, len(only.parses[0].terms), only.parses[0].quantities) == ("dragn", 1, ())


def test_each_platform_reads_by_its_own_vocabulary() -> None:
    explanation = interpretation(*[parse_query("ak arc under 5", [DOTA, CS2])] * 2)
    (other,) = explanation["others"]
    assert (explanation["platform"], explanation["filters"]) == (570, {"rarity": ["Arcana"], "price": {"max": 4.99}})
    assert (other["platform"], other["filters"]) == (730, {"weapon": ["AK-47"], "price": {"max": 4.99}})


def searched(text: str, *matching: str) -> tuple[SearchContext, ScriptedEngine]:
    """A search on an engine in which these words of a query match something."""
    body = SearchBody(query=text)

    def response(request: Any) -> EngineResponse:
        return {"hits": {"total": {"value": int(any(word in str(request["query"]) for word in matching))}}}

    engine = ScriptedEngine(response)
    return SearchContext(Index(engine, (CS2,)), SearchQuery(body, parse_query(text, [CS2]))), engine


async def test_the_first_relaxation_that_finds_something_is_used() -> None:
    context, engine = searched("redline 20-50", "redline")
    assert (await relax(context)).query.parsed.relaxation == Relaxation.NUMBERS
    assert len(engine.round_trips) == 1


async def test_a_name_that_is_being_typed_asks_for_no_looser_relaxations() -> None:
    """`20` is 2020, and only as a part of the name the year that is typed."""
    context, engine = searched("Sticker | NEO | Krakow 20", "match_bool_prefix")
    assert (await relax(context)).query.parsed.relaxation == Relaxation.NAMES
    (bodies,) = engine.round_trips
    assert len(bodies) < len([*loose(context.query.parsed)])


async def test_a_sentence_asks_for_nothing_behind_what_is_left_without_its_fillers() -> None:
    def response(request: Any) -> EngineResponse:
        return {"hits": {"total": {"value": int("'nice" not in str(request["query"]))}}}

    context, _ = searched("a nice ak redline please")
    engine = ScriptedEngine(response)
    relaxed = await relax(SearchContext(Index(engine, (CS2,)), context.query))
    assert relaxed.query.parsed.relaxation == Relaxation.FILLERS
    (bodies,) = engine.round_trips
    assert len(bodies) < len([*loose(context.query.parsed)])


async def test_typos_are_corrected_after_everything_else() -> None:
    context, engine = searched("dragn lore", "fuzziness")
    assert (await relax(context)).query.parsed.relaxation == Relaxation.TYPOS
    assert len(engine.round_trips) == 3


async def test_what_nothing_has_is_left_out_at_last() -> None:
    def response(request: Any) -> EngineResponse:
        demanded = {name: parts for name, parts in request["query"]["bool"].items() if name != "should"}
        return {"hits": {"total": {"value": int(not re.search(r"\bqqqqq\b|qqqqqredline', 'operator", str(demanded)))}}}

    context, _ = searched("ak qqqqq redline")
    engine = ScriptedEngine(response)
    relaxed = await relax(SearchContext(Index(engine, (CS2,)), context.query))
    assert relaxed.query.parsed.relaxation == Relaxation.PARTIAL
    assert relaxed.query.parsed.parses[0].ignored == ("qqqqq",)
    assert len(engine.round_trips) == 4


async def test_what_is_no_trade_post_is_read_as_the_text_that_it_is() -> None:
    """`есть … на …` offers one thing for another, but not here: what is behind it names nothing."""

    def response(request: Any) -> EngineResponse:
        demanded = {name: parts for name, parts in request["query"]["bool"].items() if name != "should"}
        return {"hits": {"total": {"value": int("emperor" in str(demanded) and "какую" not in str(demanded))}}}

    context, _ = searched("есть м4а4 император, на какую хватит")
    engine = ScriptedEngine(response)
    relaxed = await relax(SearchContext(Index(engine, (CS2,)), context.query))
    assert relaxed is not context
    assert relaxed.query.parsed.parses[0].terms[0].typed == "м4а4"


@pytest.mark.parametrize(("text", "round_trips"), [("dragn lore", 4), ("p90 2014", 2), ("under 50", 0)])
async def test_a_text_that_nothing_matches_keeps_its_strict_parse(text: str, round_trips: int) -> None:
    context, engine = searched(text)
    assert await relax(context) is context
    assert len(engine.round_trips) == round_trips


@pytest.mark.parametrize(
    ("words", "searches"), [(3, range(5, 20)), (MAX_CORRECTED_WORDS + 1, range(8)), (19, range(8))]
)
async def test_a_text_of_many_unknown_words_is_not_corrected(words: int, searches: range) -> None:
    context, engine = searched(" ".join(f"{chr(97 + number)}qzxwvk" for number in range(words)))
    assert await relax(context) is context
    assert sum(len(requests) for requests in engine.round_trips) in searches


async def test_a_long_text_leaves_words_out_in_so_many_ways_at_most() -> None:
    things, names = (
        "m4a1 m4 ak knife case covert classified restricted",
        "eco fade slaughter hydra chronos vulcan orion",
    )
    context, engine = searched(f"{things} {names} please thanks nice skin bois rouge noir aaqq bbqq")
    assert await relax(context) is context
    assert engine.sizes[-1] == MAX_PARTIAL


def read_as(text: str, *platforms: Platform) -> list[ParsedQuery]:
    return relaxations(parse_query(text, platforms or [CS2]))


def of_kind(text: str, relaxation: Relaxation) -> list[list[str]]:
    """The mere words and terms of each relaxation of this kind, what may be on the item in brackets."""
    return [
        [f"[{term.typed}]" if term.on_item else term.typed for term in each.parses[0].terms]
        for each in read_as(text)
        if each.relaxation is relaxation
    ]


def test_what_carries_something_comes_before_the_thing_itself() -> None:
    def on_items_first(text: str) -> bool:
        kinds = [each.relaxation for each in read_as(text)]
        return kinds.index(Relaxation.STICKERS) < kinds.index(Relaxation.FILLERS)

    assert on_items_first("any gun with niko gold on it")
    assert on_items_first("skin with navi sticker")
    assert not on_items_first("anyone with ak crown foil")  # an item is named


def test_words_may_be_of_a_sticker_on_the_item() -> None:
    assert of_kind("ak redline with crown foil", Relaxation.STICKERS) == [
        ["ak", "redline", "[crown foil]"],
        ["ak", "redline", "[foil crown]"],  # `katowice 2014 holo` is `holo katowice 2014`
        ["ak", "redline", "[crown]", "[foil]"],
    ]
    assert of_kind("ak 4x navi ft", Relaxation.STICKERS) == [["ak", "ft", "[navi]"]]
    assert of_kind("ak with navi sticker", Relaxation.STICKERS) == [["ak", "[navi]"]]
    assert of_kind("ak with 4 crown foils", Relaxation.STICKERS)[:1] == [["ak", "[crown foils]"]]
    assert of_kind("ak 4 stickers crown", Relaxation.STICKERS) == [["ak", "[crown]"]]
    assert of_kind("ak slate donk sticker", Relaxation.STICKERS) == [
        ["ak", "slate", "[donk]"],
        ["ak", "[slate donk]"],  # a finish may be a word of a sticker: `usp headshot guarantee`
        ["ak", "[slate]", "[donk]"],
        ["ak", "slate", "donk", "sticker"],  # any sticker
    ]
    assert of_kind("ak sticker katowice 2014", Relaxation.STICKERS)[:1] == [["ak", "[katowice 2014]"]]
    assert ["ak", "[9z team holo rio 2022]"] in of_kind("ak con pegatina 9z team holo rio 2022", Relaxation.STICKERS)
    assert ["[titan holo]"] in of_kind("titan holo sticker", Relaxation.STICKERS)  # where none is offered alone
    assert of_kind("cheongsam holo on aug akihabara accept", Relaxation.STICKERS)[:1] == [
        ["aug", "akihabara", "accept", "[cheongsam holo]"]
    ]
    assert of_kind("virtus pro holo on a redline ak, mw", Relaxation.STICKERS)[0] == [
        *("redline", "ak", "mw"),
        "[virtus pro holo]",
    ]
    assert of_kind("navi holo sticker on usp orion", Relaxation.STICKERS)[0] == ["usp", "orion", "[navi holo]"]
    carrying = of_kind("usp carrying a crown foil", Relaxation.STICKERS)
    assert carrying[:2] == [["usp", "[a crown foil]"], ["usp", "[crown foil]"]]  # `a` may be of its name
    assert of_kind("neonoir na awp z naklejka navi", Relaxation.STICKERS)[0][:2] == ["neonoir", "awp"]
    assert of_kind("asiimov on awp navi", Relaxation.STICKERS)[0] == ["asiimov", "awp", "[navi]"]  # its finish
    assert of_kind("souvenir dlore donk sticker", Relaxation.STICKERS) == [["dlore", "souvenir", "[donk]"]]
    assert ["case hardened", "ak", "[navi holo]"] in of_kind("ak case hardened 661 with navi holo", Relaxation.STICKERS)
    assert ["Field Tested", "[Crown Foil]"] in of_kind("Field-Tested • Crown Foil", Relaxation.STICKERS)
    assert of_kind("ak ft", Relaxation.STICKERS) == []
    assert of_kind("ak with", Relaxation.STICKERS) == []
    assert ["ak", "redline", "[crown foil]"] in of_kind("ak redline crown foil", Relaxation.STICKERS)
    assert of_kind("ak dragon lore", Relaxation.STICKERS) == []  # the name of a finish
    assert of_kind("crown foil", Relaxation.STICKERS) == []
    assert not any(each.relaxation is Relaxation.STICKERS for each in read_as("arcana with crown", CS2, DOTA))


def test_a_number_of_things_that_an_item_may_carry_is_of_one_item() -> None:
    readings = [each.relaxation for each in read_as("4x crown foil")]
    assert readings.index(Relaxation.STICKERS) < readings.index(Relaxation.FILLERS)
    for text in ("4x crown foil", "x4 crown (foil)", "crown foil 4x"):
        assert of_kind(text, Relaxation.STICKERS)[:1] == [["[crown foil]"]], text
    assert ["ak", "[crown foil]"] in of_kind("ak crown foil x4", Relaxation.STICKERS)
    first = next(each for each in read_as("4x ibp holo kato 14") if each.relaxation is Relaxation.STICKERS)
    (sticker,) = first.parses[0].terms
    assert [meaning.words for meaning in sticker.meanings] == ["ibuypower holo katowice 2014"]
    for text in ("ak with kato 14 ibp holo", "ak with ibp holo kato 14"):
        names = [
            meaning.words
            for each in read_as(text)
            for term in each.parses[0].terms
            for meaning in term.meanings
            if term.on_item
        ]
        assert "ibuypower holo katowice 2014" in names, text
    for text in ("10x crown foil", "1x crown foil"):
        assert of_kind(text, Relaxation.STICKERS) == [], text
    for text in ("2x fade", "2 x clutch case", "2x ak redline"):
        readings = [each.relaxation for each in read_as(text)]
        assert Relaxation.STICKERS not in readings[: readings.index(Relaxation.FILLERS)], text
    assert Relaxation.STICKERS not in [each.relaxation for each in read_as("4x crown foil", CS2, DOTA)]


def test_what_is_said_to_be_on_an_item_is_no_sticker_itself() -> None:
    readings = [each.relaxation for each in read_as("skin with navi sticker")]
    assert readings.index(Relaxation.STICKERS) < readings.index(Relaxation.FILLERS)
    assert of_kind("skin with navi sticker", Relaxation.STICKERS)[:1] == [["[navi]"]]


def test_words_may_be_of_the_set_or_unfinished_or_in_other_letters() -> None:
    assert of_kind("cache fn", Relaxation.SETS) == [["cache", "fn"]]
    assert of_kind("ak fn", Relaxation.SETS) == []
    (shortened,) = [each for each in read_as("usp orio mw") if each.relaxation is Relaxation.PREFIXES][:1]
    assert shortened.parses[0].terms[1].words[0].prefixes == ("orio",)
    assert of_kind("usp mw", Relaxation.PREFIXES) == []
    assert of_kind("rfkfi", Relaxation.LETTERS) == [["калаш"]]
    assert ["ak", "redline"] in of_kind("фл кувдшту", Relaxation.LETTERS)
    assert of_kind("qqq rfkfi", Relaxation.LETTERS) == []
    assert not any(each.relaxation is Relaxation.LETTERS for each in read_as("rfkfi", CS2, DOTA))


@pytest.mark.parametrize(
    ("text", "of_set"),
    [
        ("restricted fever case", [["restricted", "fever", "case"], ["restricted", "fever"]]),
        ("fever case", [["fever", "case"]]),
        ("restricted fever", [["restricted", "fever"]]),
        ("restricted case", []),
        ("mag7 riptide case", [["mag7", "operation riptide"]]),
    ],
)
def test_a_set_may_be_said_by_its_case(text: str, of_set: list[list[str]]) -> None:
    read = words_of_sets(strict(text))
    assert [[term.typed for term in each.parses[0].terms] for each in read] == of_set
