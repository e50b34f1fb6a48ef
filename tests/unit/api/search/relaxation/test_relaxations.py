"""What a text may mean besides, once its strict parse finds nothing."""

import pytest

from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import ParsedQuery, Relaxation, parse_query
from api.search.query.text import ONE_EDIT, TWO_EDITS, conditions, similar
from api.search.relaxation.fillers import without_fillers
from api.search.relaxation.left_out import names_alone
from api.search.relaxation.relaxations import as_typed, corrections, misspelt, with_similar_words
from api.search.relaxation.sets import words_of_sets
from api.search.relaxation.stickers import says_it_is_on_items
from mappings.vocabulary.entries import values_of
from tests.support.platforms import shared_platforms
from tests.support.search.relaxations import relaxations

CS2 = next(iter(shared_platforms()))


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def test_what_a_sentence_has_for_a_short_word_by_chance_is_no_typo() -> None:
    def fuzzy(text: str) -> bool:
        return with_similar_words(without_fillers(strict(text)) or strict(text), (), Relaxation.TYPOS) is not None

    assert not fuzzy("is this site for scam")
    assert fuzzy("is this site for howll")
    assert fuzzy("site scam")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("mp7 nemesis kills: 1204", "1204"),
        ("faceit lvl 10 awp", "10"),
        ("ump with 4300 kills", "4300"),
        ("turning 12 awp", "12"),
        ("15 march awp", "15"),
        ("need 10 chroma 2 keys", "10"),
        ("playing again after 5 years, awp", "5"),
        ("awp asiimov 20% off", "20"),
    ],
)
def test_a_number_that_counts_what_is_of_no_item_says_nothing(text: str, number: str) -> None:
    assert [term.is_filler for term in strict(text).parses[0].terms if term.typed == number] == [True]


def test_other_numbers_count() -> None:
    for text, number in (
        *(("katowice 2014", "2014"), ("gamma 2 case", "2"), ("awp 661", "661"), ("case 3", "3")),
        *(("titan holo katowice 2014 pcs", "2014"), ("sticker until 2014", "2014"), ("chroma 2 days", "2")),
        *(
            ("ak case hardened 661 pm me", "661"),
            ("ak case hardened 661 for 200 keys", "661"),
            ("ak 661 300 keys", "661"),
        ),
    ):
        assert not any(term.is_filler for term in strict(text).parses[0].terms if number in term.typed), text
    (bound,) = strict("galil lower than .2 float").parses[0].quantities
    assert bound.low is None
    assert float(bound.high or 0) == pytest.approx(0.2)


def test_a_sticker_that_is_asked_for_with_its_number_is_wanted_itself() -> None:
    for text in ("4x flammable foil", "need gun 4x crown foil", "want 4x crown foil on it", "lf 4x navi holo craft"):
        assert says_it_is_on_items(strict(text))
    for text in ("need 4x flammable foil", "nice clutch holo x3 pls", "selling 4x crown foil"):
        assert not says_it_is_on_items(strict(text))


def test_a_greeting_that_is_a_name_too_is_left_out() -> None:
    greeted = relaxations(strict("selam bıçak"))
    left = next(each for each in greeted if each.relaxation == "fillers").parses[0]
    assert [term.typed for term in left.terms] == ["bıçak"]


def test_a_first_letter_may_be_wrong_at_last() -> None:
    last = corrections(strict("ak wulcan abc"), ())[-1]
    assert [(term.typed, term.words[0].fuzzy_first) for term in last.parses[0].terms] == [
        ("ak", False),
        ("wulcan", True),
        ("abc", False),
    ]
    assert corrections(strict("ak abc"), ())[-1].relaxation is not Relaxation.FIRST_LETTERS


def test_words_like_one_that_is_alone_are_more_similar() -> None:
    (word,) = corrections(strict("terraria"), ())[0].parses[0].terms[0].words
    assert word.fuzzy
    assert word.is_alone
    assert all(each.relaxation is not Relaxation.FIRST_LETTERS for each in corrections(strict("geralt"), ()))
    (first,) = corrections(strict("xsiimov"), ())[-1].parses[0].terms[0].words
    assert (first.fuzzy_first, first.is_alone) == (True, True)
    beside = corrections(strict("ak vulcn"), ())[0].parses[0].terms[1]
    assert (beside.words[0].fuzzy, beside.words[0].is_alone) == (True, False)
    assert not corrections(strict("vulcn under 50"), ())[0].parses[0].terms[0].words[0].is_alone


def test_typos_are_mended_beside_what_is_on_the_item() -> None:
    on_item = corrections(strict("redlin ak w/ crown foil"), {"crown", "foil"})[-1]
    assert [(term.typed, term.on_item, term.words[0].fuzzy) for term in on_item.parses[0].terms] == [
        ("redlin", False, True),
        ("ak", False, False),
        ("crown", True, False),
        ("foil", True, False),
    ]
    assert on_item.relaxation is Relaxation.STICKERS


def test_a_text_of_fillers_alone_has_no_typo() -> None:
    assert corrections(strict("lol ok bye"), ()) == []
    assert corrections(strict("lol ok byee"), ()) != []


def test_a_misspelt_weapon_is_read_as_that_weapon_alone() -> None:
    (respelt,) = misspelt(strict("karambt mitsy"), ("weapon",))
    assert [values_of(term.meanings, "weapon") for term in respelt.parses[0].terms] == [{"Karambit"}, set()]
    assert misspelt(strict("ak mitsy"), ("weapon",)) == []


def test_a_misspelt_sticker_is_similar_to_one_on_the_item() -> None:
    for text in ("deagle with flamable foil", "flamable foil on a deagle"):
        on_items = [each for each in corrections(strict(text), {"foil"}) if each.relaxation is Relaxation.STICKERS]
        (sticker,) = [term for term in on_items[0].parses[0].terms if term.on_item]
        (condition,) = [each for each in conditions(on_items[0]) if each.typed == sticker.typed]
        assert condition.clause["bool"]["filter"] == [{"match": {"stickers.typed": similar("flamablefoil", TWO_EDITS)}}]


def test_no_other_word_of_a_misspelt_sticker_is_similar_to_one() -> None:
    on_items = corrections(strict("awp with reasn katowice 2014"), {"katowice", "2014"})
    clauses = [each.clause for parsed in on_items for each in conditions(parsed) if each.typed == "reasn katowice 2014"]
    assert clauses[0]["bool"]["filter"] == [
        {"match": {"stickers.typed": similar("reasnkatowice", ONE_EDIT)}},
        {"match": {"stickers.typed": {"query": "katowice2014"}}},
    ]


def test_a_weapon_beside_a_bound_and_fillers_alone_is_no_word_of_a_name() -> None:
    kinds = {each.relaxation for each in as_typed(strict("m4a1s for 5 dollars"))}
    assert kinds == {Relaxation.STRICT}
    assert {each.relaxation for each in as_typed(strict("m4a1s for you"))} > kinds


def test_a_color_is_a_word_of_names_then_a_rarity_of_the_thing_itself_and_left_out_at_last() -> None:
    for text in ("purple knife", "фиолетовый нож", "紫色のナイフ", "фиолетовые ножи"):
        parsed = strict(text)
        (second,) = (each for each in as_typed(parsed) if each.options[0].meanings == parsed.options[0].otherwise)
        assert values_of(second.options[0].meanings, "rarity") == {"Restricted", "Remarkable", "Exceptional"}
        assert all(term.narrows for term in second.options[1:]), text
        ignored = [each.parses[0].ignored for each in names_alone(parsed, ())]
        assert (parsed.options[0].typed,) in ignored, text
    assert values_of(as_typed(strict("gold knife"))[1].options[0].meanings, "type") == {"Knife", "Gloves"}


def test_what_is_in_a_case_is_of_its_set_alone() -> None:
    strict = parse_query("fever case covert or classified minimal wear", [CS2])
    *_, without_case = words_of_sets(strict)
    assert [(term.typed, term.only_in_set) for term in without_case.parses[0].terms if term.in_set] == [("fever", True)]


def test_slang_may_be_of_a_set_and_beside_a_year_a_set_another_one() -> None:
    dust2, souvenir, _ = words_of_sets(strict("dust2 souvenir ak"))[0].parses[0].terms
    assert (dust2.in_set, souvenir.in_set) == (True, False)
    clauses = str([each.clause for each in conditions(words_of_sets(strict("cobble awp"))[0])])
    assert "{'set.typed': {'query': 'cobblestone', 'operator': 'and'}}" in clauses
    train, year = words_of_sets(strict("train collection 2021"))[0].parses[0].terms
    assert (train.only_in_set, train.meanings[0].words, year.in_set) == (True, "The Train Collection", True)
    assert not any(term.in_set for each in words_of_sets(strict("train collection ak")) for term in each.options)


def test_any_of_several_kinds_is_meant_where_nothing_is_all_of_them() -> None:
    either = next(each for each in relaxations(strict("karambit, talon or gloves fn")) if each.relaxation == "either")
    kinds, exterior = either.parses[0].terms
    assert [option.typed for option in kinds.options] == ["karambit", "talon", "gloves"]
    assert exterior.fields == {"exterior"}
    notes = interpretation(strict("karambit, talon or gloves fn"), either)["relaxed"]
    assert notes[0] == {"typed": "karambit talon gloves", "to": "any of these: nothing is all of them"}
    names = relaxations(strict("karambit gloves fade"))  # one of them has the name
    assert "either" not in [each.relaxation for each in names]
    assert "either" not in [each.relaxation for each in relaxations(strict("glock sticker"))]
    for text, field, values in (
        ("fade awp, mp7 and mac-10", "weapon", {"AWP", "MP7", "MAC-10"}),
        ("2018 Nuke & 2018 Inferno Collection", "set", {"The 2018 Nuke Collection", "The 2018 Inferno Collection"}),
    ):
        either = next(each for each in relaxations(strict(text)) if each.relaxation == "either")
        first = either.parses[0].terms[0]
        assert values_of([meaning for option in first.options for meaning in option.meanings], field) == values
    assert "either" not in [each.relaxation for each in relaxations(strict("deagle conspiracy nova"))]


def test_a_word_for_skins_is_what_has_a_float_where_no_kind_is_said() -> None:
    cheapest = strict("cheapest skins")
    (types,) = (values for _, values in cheapest.parses[0].terms[0].meanings[0].filters)
    assert "Knife" in types
    assert not CS2.merged_vocabulary.without_float & set(types)
    assert not strict("awp skins").parses[0].terms[-1].meanings  # a weapon is said
    assert CS2.merged_vocabulary.skins <= CS2.merged_vocabulary.ignored
    assert not strict("skins sticker").parses[0].terms[0].meanings
    fillers = next(each for each in relaxations(strict("any skins for cs go")) if each.relaxation == "fillers")
    assert [term.typed for term in fillers.parses[0].terms] == ["skins"]


def test_a_year_in_a_title_of_skins_is_a_date_but_in_a_name() -> None:
    def without(text: str) -> list[str]:
        fillers = next(each for each in relaxations(strict(text)) if each.relaxation == "fillers")
        return [term.typed for term in fillers.parses[0].terms]

    assert without("best ak skins 2025") == ["ak"]
    assert without("best ak skins katowice 2014") == ["ak", "katowice", "2014"]
    assert without("best ak redline 2014") == ["ak", "redline", "2014"]


def test_a_number_behind_a_p_is_a_seed_unless_that_is_a_weapon() -> None:
    for text, seeds in (("ak ch p661", [(661,)]), ("ak ch p 69 mw", [(69,)]), ("p250 franklin", []), ("ak p90", [])):
        read = [query.parses[0].quantities for query in relaxations(strict(text)) if query.relaxation == "seeds"]
        assert [quantity.values for quantities in read[:1] for quantity in quantities] == seeds
