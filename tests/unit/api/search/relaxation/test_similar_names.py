"""Words beside a weapon that are written much like the name of a finish."""

import pytest

from api.search.context import Index, SearchContext
from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import ParsedQuery, Relaxation, parse_query
from api.search.query.request import SearchQuery
from api.search.relaxation.relax import relax
from api.search.relaxation.similar_names import MAX_NAMES, similar_names
from api.search.schemas.search import SearchBody
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

CS2 = next(iter(shared_platforms()))


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def names_in(text: str) -> list[str]:
    """What each of the relaxations has besides the weapon."""
    parses = [each.parses[0] for each in similar_names(strict(text))]
    return [" ".join(term.typed for term in parse.terms if not term.fields) for parse in parses]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("five-seven violet dynamo", "Violent Daimyo"),  # a word of them is a color
        ("glock 18 | su elemanteli", "Water Elemental"),  # in Turkish, with a word that else says nothing
        ("usp prinstrm", "Printstream"),
        ("mac10 neon ryderz", "Neon Rider"),  # a word of them is of names
    ],
)
def test_unknown_words_are_the_name_that_is_most_like_them(text: str, name: str) -> None:
    first = strict(text)
    relaxed = similar_names(first)
    assert names_in(text)[0] == name
    assert {each.relaxation for each in relaxed} == {Relaxation.SIMILAR_NAMES}
    (finish,) = relaxed[0].parses[0].finishes
    assert finish == name.lower()
    assert interpretation(first, relaxed[0])["relaxed"][-1]["to"] == f"the name that is most like it: {name}"


def test_quantities_and_what_is_not_wanted_stay() -> None:
    relaxed = similar_names(strict("usp prinstrm ft -st under $60"))[0].parses[0]
    assert [quantity.typed for quantity in relaxed.quantities] == ["under $60"]
    assert [term.typed for term in relaxed.excluded] == ["st"]


@pytest.mark.parametrize(
    "text",
    [
        "violet dynamo",  # no weapon
        "awp asiimov",  # known
        "awp qqqqq",
        "awp redline qqqqq",  # a name, and a word of none
        "awp 2014 x1y2z3",  # no words
        "awp aaab bbbc cccd ddde eeef",  # too many
    ],
)
def test_other_texts_have_no_such_name(text: str) -> None:
    assert similar_names(strict(text)) == []


def test_on_several_platforms_a_text_has_no_such_name() -> None:
    assert similar_names(parse_query("usp prinstrm", [CS2, CS2])) == []


def test_few_names_are_searched_for() -> None:
    names = names_in("awp dragn kinng elementul hydraa")
    assert 0 < len(set(names)) <= MAX_NAMES


async def test_they_are_searched_for_before_words_are_left_out() -> None:
    engine = ScriptedEngine(lambda request: {"hits": {"total": {"value": int("Violent" in str(request["query"]))}}})
    text = "five-seven violet dynamo"
    context = SearchContext(Index(engine, (CS2,)), SearchQuery(SearchBody(query=text), strict(text)))
    assert (await relax(context)).query.parsed.relaxation == Relaxation.SIMILAR_NAMES
    assert len(engine.round_trips) == 4
