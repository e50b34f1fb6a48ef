"""Words of other languages as the English ones of names."""

import pytest

from api.search.parsing.parse import Relaxation, parse_query
from api.search.relaxation.letters import in_english
from api.search.relaxation.relaxations import in_other_letters, misspelt, translated
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms
from tests.support.search.relaxations import relaxations

PLATFORM = next(platform for platform in shared_platforms() if platform.id == 730)
CS2 = PLATFORM.merged_vocabulary


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Glock-18 | Kum Tepesi", "Glock 18 sand dune"),
        ("M4A4 | 嚎叫", "M4A4 howl"),
        ("USP-S 击杀某某确认", "USP S kill 某某 confirmed"),
        ("маг7 монстер колл", "маг7 monster call"),
        ("Мокра Шкарпетка", "wet sox"),
        ("Nasse Socke", "wet sox"),
        ("awpatherisfn", "awp atheris fn"),
        ("cyrexm4a1sft", "cyrex m4a1s ft"),
        ("akbloodsport", "ak bloodsport"),
        ("akbloodsportzz", "akbloodsportzz"),  # no exterior
        ("kebloodsport", "kebloodsport"),  # no weapon
        ("gutdoppler", "gut doppler"),
        ("dopplerph2", "doppler ph2"),
        ("gammadopplerphase4", "gammadoppler phase4"),
        ("vulcanmw", "vulcan mw"),
        ("vulcanqq", "vulcanqq"),
        ("フロート0.05", "フロート0.05"),  # not `ロード`: a word of katakana is borrowed as a whole
        ("ダークウォーター", "dark water"),
        ("ビゾン ジャッジメントオブアヌビス", "ビゾン judgement of anubis"),  # by ear
        ("ゴールデンコイルスタトラ", "golden coil スタトラ"),  # by ear, and a known word behind it
        ("카람빗스코치드", "카람빗 scorched"),
        ("핫라인마이애미팩뉴", "hotline miami 팩뉴"),
        ("오토트로닉이나 그린라미네이트", "autotronic 이나 green laminate"),  # an ending joins two names
        (
            "가나다라마바사아자차카타파하가나다라마바사아자차카타파하",
            "가나다라마바사아자차카타파하가나다라마바사아자차카타파하",
        ),
        ("뷁뷁뷁", "뷁뷁뷁"),
        ("すたとらのawp", "スタトラ のawp"),  # hiragana
        ("ぷりんとすとりーむ", "プリントストリーム"),  # with a long vowel
        ("さがしてます awp", "さがしてます awp"),
        ("хзщшц", "хзщшц"),
        ("ak redline ft", "ak redline ft"),
        ("", ""),
    ],
)
def test_unknown_words_are_those_that_they_translate_or_sound_like(text: str, words: str) -> None:
    assert in_english(text, CS2).replace("|", " ").replace("-", " ").split() == words.split()


def test_what_translates_several_words_is_any_of_them_and_the_first_name_where_all_have_several_words() -> None:
    vocabulary = Vocabulary(
        glossary={
            "vice": ("порок",), "sin": ("порок",), "x ray": ("рентген",), "beam": ("рентген",),
            "tiger tooth": ("клык",), "broken fang": ("клык",),
        }
    )  # fmt: skip
    assert in_english("порок рентген клык", vocabulary).split() == ["vice/sin", "beam", "tiger", "tooth"]


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("awp lightning st", ["AWP", "lightning", "st"]),  # unfinished: Lightning Strike
        ("ak redline st", ["AK-47", "redline", "StatTrak™"]),  # the name is whole
        ("ak ft", ["AK-47", "Field-Tested"]),
        ("ak lightning st ", ["AK-47", "lightning", "StatTrak™"]),  # a blank ends the word
        ("01 - awp asiimov", ["AWP", "asiimov"]),
        ("3. awp asiimov", ["AWP", "asiimov"]),
        ("5 - 7 hyper beast", ["Five-SeveN", "hyper", "beast"]),
    ],
)
def test_unfinished_names_of_finishes_and_numbers_of_lines(text: str, meanings: list[str]) -> None:
    (parse,) = parse_query(text, [PLATFORM]).parses
    assert [term.meanings[0].names[0] if term.meanings else term.typed for term in parse.terms] == meanings


def test_a_case_by_its_name_in_another_language_is_a_case() -> None:
    (parse,) = parse_query("кейс революция", [PLATFORM]).parses
    assert [meaning.filters for meaning in parse.terms[0].meanings] == [(("type", ("Container",)),)]


def test_a_text_in_own_words_is_read_in_english_with_and_without_fillers() -> None:
    strict = parse_query("куплю глок килл", [PLATFORM])
    read = [each for each in relaxations(strict) if each.relaxation is Relaxation.LETTERS]
    assert [[term.typed for term in each.parses[0].terms] for each in read][-1] == ["глок", "kill"]
    assert translated(parse_query("ak redline", [PLATFORM])) == []
    assert translated(parse_query(strict.text, [PLATFORM, PLATFORM])) == []


def test_names_of_other_things_are_translated_after_unknown_words_alone() -> None:
    vocabulary = Vocabulary(
        words={"tigris": ("tigre",)}, glossary={"tiger": ("tigre",), "tooth": ("diente",)}, finish_names=("Tigris",)
    )
    assert in_english("tigre diente", vocabulary).split() == ["tigre", "tooth"]
    assert in_english("tigre diente", vocabulary, of_names=True).split() == ["tiger", "tooth"]


def test_a_phrase_may_have_fillers_in_it() -> None:
    vocabulary = Vocabulary(glossary={"toybox": ("caisse de jouets",)}, fillers=("de",), finish_names=("Toybox",))
    assert in_english("de caisse de jouets de", vocabulary).split() == ["de", "toybox", "de"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("feuerschlange", "fire serpent"),
        ("neonschlange", "neon serpent"),  # a word of a name is itself
        ("feuerwehr", "feuerwehr"),
        ("schlangen", "serpent"),  # any ending
    ],
)
def test_words_that_are_written_together_are_translated_each(text: str, words: str) -> None:
    vocabulary = Vocabulary(
        glossary={"fire": ("feuer",), "serpent": ("schlange",)}, endings=("n",), finish_names=("Neon Rider",)
    )
    assert in_english(text, vocabulary).split() == words.split()


def test_a_text_with_typos_is_read_without_them() -> None:
    strict = parse_query("куплю глок граидент", [PLATFORM])
    read = misspelt(strict)
    assert {each.relaxation for each in read} == {Relaxation.TYPOS}
    assert [[term.typed for term in each.parses[0].terms] for each in read] == [
        ["куплю", "глок", "градиент"],
        ["глок", "градиент"],
        ["куплю", "глок", "fade"],
        ["глок", "fade"],
    ]
    assert misspelt(parse_query("куплю глок", [PLATFORM])) == []
    assert misspelt(parse_query(strict.text, [PLATFORM, PLATFORM])) == []


def test_a_word_with_more_letters_than_a_filler_is_no_filler() -> None:
    assert in_english("ak michu", CS2).split() == ["ak", "michu"]


def test_an_amount_is_read_before_words_are_translated() -> None:
    read = translated(parse_query("디글 오션드라이브 110불", [PLATFORM]))
    assert [[term.typed for term in each.parses[0].terms] for each in read] == [["디글", "ocean", "drive"]]
    assert [quantity.high for quantity in read[0].parses[0].quantities] == [110]


def test_a_translated_name_of_a_sticker_may_be_on_the_item() -> None:
    read = relaxations(parse_query("크라운 스티커 붙어있는 벌칸", [PLATFORM]))
    on_items = [[term.typed for term in each.parses[0].terms if term.on_item] for each in read]
    assert ["crown"] in on_items


def test_a_sticker_on_a_weapon_may_be_named_in_other_letters() -> None:
    def on_items(text: str) -> list[str]:
        terms = [term for each in in_other_letters(parse_query(text, [PLATFORM])) for term in each.parses[0].terms]
        return [term.typed for term in terms if term.on_item]

    assert "페이즈 홀로 antwerp 2022" in on_items("ak 슬레이트 페이즈 홀로 앤트워프 2022")
    assert on_items("슬레이트 페이즈 홀로 앤트워프 2022") == [], "nothing says that there is more than a sticker"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("パッチ バヨネットフロッグ", "パッチ bayonet frog"),
        ("패치 베이오넷 프로그", "패치 bayonet frog"),
        ("가 " * 20, "가 " * 20),  # too many words to look for a name
        ("나비칼 뷁뷁뷁", "나비칼 뷁뷁뷁"),  # no name
    ],
)
def test_several_words_in_syllables_may_be_one_name_by_ear(text: str, words: str) -> None:
    assert in_english(text, CS2, of_names=True).split() == words.split()


def test_a_word_of_a_finish_is_not_parted() -> None:
    assert in_english("m4a1s nightmare", CS2, of_names=True) == "m4a1s nightmare"  # no night and no sea (Italian)
