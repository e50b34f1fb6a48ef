"""What is left out of a text at last: words that nothing has, at all or beside the others."""

from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import ParsedQuery, parse_query
from api.search.relaxation.left_out import names_alone, partials
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def test_what_nothing_has_is_left_out_and_named() -> None:
    first = strict("ak redlime instadeliv 77")
    with_typo, without = partials(first, {"ak"}, {"redlime"})[::2]
    assert with_typo.parses[0].ignored == ("instadeliv",)
    assert [(term.typed, term.words[0].fuzzy) for term in with_typo.parses[0].terms] == [
        ("ak", False),
        ("redlime", True),
        ("77", False),
    ]
    assert without.parses[0].ignored == ("redlime", "instadeliv")
    assert interpretation(first, without)["ignored"] == ["redlime", "instadeliv"]
    assert partials(strict("toyota corolla 2019"), (), ()) == []
    assert partials(strict("ak 4x crown foil"), (), ()) == []
    assert partials(strict("ak redline"), {"redline"}, ()) == []
    assert partials(strict("redline toyota"), {"redline"}, ())[-1].parses[0].ignored == ("toyota",)


def test_beside_a_typo_what_only_other_items_have_is_left_out() -> None:
    left = partials(strict("awp athris start"), {"start"}, {"athris"})
    assert {each.parses[0].ignored for each in left} == {("start",), ("athris",)}
    assert left[0].parses[0].terms[1].words[0].fuzzy


def test_a_detail_or_one_word_of_a_name_is_too_little_beside_what_is_left_out() -> None:
    def is_shown(text: str, matching: str = "") -> bool:
        return bool(partials(strict(text), matching.split(), ()))

    assert not is_shown("kinderwagen gebraucht")
    assert is_shown("kinderwagen gebraucht minimal wear stattrak")
    assert is_shown("kinderwagen gebraucht under 50")
    assert is_shown("kinderwagen gebraucht cheapest")
    assert not is_shown("traceback call chronos", "chronos")
    assert is_shown("traceback chronos", "chronos")
    assert is_shown("traceback call dragon lore", "dragon lore")
    assert is_shown("wtb traceback call chronos", "chronos")
    assert is_shown("traceback call awp")


def test_goods_of_other_shops_are_not_left_out() -> None:
    assert partials(strict("how much robux is awp asiimov"), {"asiimov"}, ())[-1].parses[0].ignored == ("robux",)
    for text in ("roblox gift card", "redline case robux"):
        left_out = (*partials(strict(text), {"redline"}, ()), *names_alone(strict(text), {"roblox", "robux"}))
        assert not {"roblox", "robux"} & {word for each in left_out for word in each.parses[0].ignored}


def test_of_two_words_that_are_similar_to_one_each_is_left_out_alone() -> None:
    left = partials(strict("galil pheonix blacklite"), {"galil"}, {"pheonix", "blacklite"})
    assert list(dict.fromkeys(each.parses[0].ignored for each in left))[:2] == [("blacklite",), ("pheonix",)]


def test_what_is_left_is_the_finish_of_just_that_name_first() -> None:
    left = partials(strict("karambit doppler toyota"), {"karambit", "doppler"}, ())
    assert [each.parses[0].finishes for each in left][:2] == [("doppler",), ()]


def test_words_of_no_name_are_left_out_each_alone_and_then_all() -> None:
    def left_out(text: str) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(each.parses[0].ignored for each in names_alone(strict(text), {"qqqq"})))

    assert left_out("ak redline instadeliv foo 77") == [("foo",), ("instadeliv",), ("instadeliv", "foo")]
    assert left_out("ak redline qqqq foo") == [("qqqq", "foo")]
    many = "ak redline " + " ".join(f"{letter}bcd" for letter in "qwrtz")
    assert [len(words) for words in left_out(f"{many} qqqq")] == [2] * 5 + [3] * 10 + [6]
    assert [len(words) for words in left_out(f"{many} pbcd")] == [6]
    assert left_out("dragon lore") == left_out("toyota corolla") == []
    assert left_out("butterfly doppler spectrum") == [("spectrum",)]  # the name of a case
    assert left_out("ak redline howl") == []  # the name of another finish


def test_what_says_that_others_are_not_wanted_is_never_left_out() -> None:
    for text in ("ak redline qqqq bs not", "ak redline qqqq not", "ak qqqq ni stattrak"):
        parsed = strict(text)
        ignored = [each.parses[0].ignored for each in (*partials(parsed, (), ()), *names_alone(parsed, {"qqqq"}))]
        assert not {"not", "ni"} & {word for words in ignored for word in words}
    assert "not" in names_alone(strict("ak redline fn or not, under 50"), ())[-1].parses[0].ignored


def test_a_word_that_stands_for_another_name_by_chance_is_left_out_at_last() -> None:
    def last_left_out(text: str) -> tuple[str, ...]:
        return [each.parses[0].ignored for each in names_alone(strict(text), ())][-1]

    assert last_left_out("awp descarga eletrica abcd de consumo") == ("abcd", "de consumo")
    assert last_left_out("awp abcd de consumo") == ("abcd",)  # then no name is left
    assert last_left_out("titan holo abcd kato 2018") == ("abcd",)  # of no weapon


def test_in_a_sentence_a_word_that_is_a_name_may_be_one_by_chance() -> None:
    def last_left_out(text: str) -> tuple[str, ...]:
        return [each.parses[0].ignored for each in names_alone(strict(text), ())][-1]

    assert last_left_out("i need some mp9 for every eco") == ("every", "eco")
    readings = [each.parses[0] for each in names_alone(strict("i need some mp9 for my eco on a knife"), ())]
    assert ("knife",) in [parse.ignored for parse in readings]
    readings = [each.parses[0] for each in names_alone(strict("you have the recoil case and my balance"), ())]
    assert ["recoil", "case"] in [[term.typed for term in parse.terms] for parse in readings]
    assert last_left_out("i need some mp9 dragon lore for every eco") == ("every", "eco")
    assert last_left_out("mp9 every eco") == ("every",)


def test_beside_the_finish_of_a_weapon_other_names_are_left_out() -> None:
    def left_out(text: str) -> list[tuple[str, ...]]:
        return [each.parses[0].ignored for each in names_alone(strict(text), {"abcd"})]

    assert ("niko", "1deag") in left_out("niko 1deag deagle mecha industries")
    assert ("m0nesy", "abcd") in left_out("m0nesy awp printstream abcd")
    assert left_out("awp redline fn ww dragon") == []  # nothing else says that it is a sentence
    assert not any("niko" in ignored for ignored in left_out("deagle niko abcd"))  # without a finish
    assert not any("niko" in ignored for ignored in left_out("niko abcd mecha industries"))  # of no weapon


def test_what_is_said_to_be_on_the_item_is_not_left_out() -> None:
    def left_out(text: str) -> set[str]:
        return {word for each in names_alone(strict(text), {"abcd"}) for word in each.parses[0].ignored}

    assert "niko" not in left_out("usp orion with niko abcd on it, a man can dream")
    assert "niko" in left_out("the usp orion with the niko abcd on it")
    assert left_out("usp orion abcd with") == {"abcd"}
    assert "dragon" in left_out("m4 with skull dragon abcd hyper beast best offer")  # a word of finishes


def test_a_name_with_a_digit_in_it_may_be_left_out_once_nothing_else_is_found() -> None:
    assert all("ez4ence" not in each.parses[0].ignored for each in partials(strict("ez4ence music kit abcd"), (), ()))
    for text, is_left_out in (
        ("awp fade 1deag", True),
        ("awp fade g3sg1x", False),
        ("awp fade 2014a", False),
        ("awp doppler4", False),
    ):
        word = text.split()[-1]
        assert any(word in each.parses[0].ignored for each in names_alone(strict(text), ())) is is_left_out, text


def test_beside_another_finish_a_nickname_of_a_pattern_is_left_out_first() -> None:
    for text, nickname in (
        ("usp alpine bluegem", "bluegem"),
        ("butterfly doppler 蓝顶", "蓝顶"),
        ("blue gem fade karambit", "blue gem"),
    ):
        assert names_alone(strict(text), ())[0].parses[0].ignored == (nickname,)
    assert names_alone(strict("ak blue gem"), ()) == []
