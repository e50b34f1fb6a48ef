"""What buyers write in other languages and letters."""

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from api.search.parsing.parse import PlatformParse, parse_query
from api.search.relaxation.letters import other_letters
from mappings.vocabulary.entries import Role, values_of
from mappings.vocabulary.vocabulary import Vocabulary, merged
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def parsed(text: str) -> PlatformParse:
    (only,) = parse_query(text, [CS2]).parses
    return only


def meanings_of(text: str) -> list[str]:
    """The first value or words that each term means, else the word itself."""
    return [term.meanings[0].names[0] if term.meanings else term.typed for term in parsed(text).terms]


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("калаш азимов", ["AK-47", "asiimov"]),
        ("stattrak입니다", ["StatTrak™", "입니다"]),  # an ending behind Latin letters
        ("калаша азимова", ["AK-47", "asiimov"]),  # inflected
        ("наклейкой", ["Sticker"]),
        ("история о драконе", ["dragon lore"]),
        ("ak二西莫夫略磨", ["AK-47", "asiimov", "Minimal Wear"]),  # no blanks between words
        ("蝴蝶刀", ["Butterfly Knife"]),
        ("ak不明红线", ["AK-47", "不明", "redline"]),
        ("나비칼", ["Butterfly Knife"]),
        ("우르서스 칼", ["Ursus Knife"]),
        ("закалене в боях", ["Battle-Scarred"]),
        ("紅線 戰場實測", ["redline", "Field-Tested"]),
        ("久經邁阿密", ["Field-Tested", "vice"]),
        ("Üretimden Yeni Çıkmış", ["Factory New"]),
        ("殺豬刀 牙簽", ["Gut Knife", "Stiletto Knife"]),
        ("Classified(ピンク)", ["Classified"]),
        ("en ucuz kapsül", ["capsule"]),  # and no other container
        ("スタトラ カプセル", ["StatTrak™", "capsule"]),
        ("印花胶囊", ["sticker capsule"]),
        ("красный ак", ["red", "AK-47"]),  # the color of a finish
        ("赤いグローブ", ["red", "Gloves"]),
        ("красные скины", ["Covert"]),
        ("souvenir paket mirage", ["souvenir package", "mirage"]),
        ("csgo case 1", ["cs go weapon case"]),
        ("a faca mais cara", ["Knife"]),  # no `a` of a name
        ("quero o awp", ["quero", "AWP"]),
        ("o awp dragon lore", ["o", "AWP", "dragon", "lore"]),
        ("w awp", ["w", "AWP"]),
        ("агенты спецназа", ["nswc seal"]),  # a side's agents, not the gloves
        ("агенты контр-террористов", ["Agent", "nswc seal"]),
        ("反恐精英 探员", ["nswc seal"]),
        ("terörist ajanlar", ["terrorist", "Agent"]),  # or that in the name of a sticker
        ("agente terrorista", ["phoenix"]),
        ("сувенирный набор", ["souvenir package"]),  # not a souvenir
        ("старт трек м4а4 вой", ["StatTrak™", "M4A4", "howl"]),
        ("14卡托紅線", ["katowice 2014", "redline"]),
        ("毀滅者 2000", ["decimator"]),
        ("awp so ft", ["AWP", "Souvenir"]),
        ("데저트 이글", ["Desert Eagle"]),
        ("칼모름", ["칼모름"]),  # Korean parts words by blanks
        ("나비칼페이드", ["Butterfly Knife", "fade"]),  # but not everybody types them
        ("코발트 스컬", ["cobalt skulls"]),  # or set one more
        ("나이 프", ["나이", "프"]),
        ("필요없는", ["필요없는"]),
        ("ak모름칼", ["AK-47", "모름칼"]),
        ("에케레드라인으로만", ["AK-47", "redline"]),
        ("ak 레드라인이랑 불칸", ["AK-47", "redline"]),  # either
        ("バタフライナイフ フェード", ["Butterfly Knife", "fade"]),
        ("刀" * 61, ["刀" * 61]),
        ("不明", ["不明"]),
        ("handschuhe", ["Gloves"]),
        ("karambits", ["Karambit"]),
        ("aks fn", ["AK-47", "Factory New"]),
        ("stattrakk", ["stattrakk"]),
        ("ste", ["ste"]),
    ],
)
def test_words_of_other_languages_mean_the_same(text: str, meanings: list[str]) -> None:
    assert meanings_of(text) == meanings


@pytest.mark.parametrize(
    ("text", "not_wanted", "sort", "high"),
    [
        ("ak ohne stattrak", ["stattrak"], "", None),
        ("калаш без статтрека", ["статтрека"], "", None),
        ("stattrak olmayan ak", ["stattrak"], "", None),
        ("olmayan", [], "", None),
        ("самый дешевый керамбит", [], "price_asc", None),
        ("калаши до 20 долларов", [], "", 20),
        ("刀100以下", [], "", 100),
        ("蝴蝶刀低于500", [], "", 499),  # a bound may follow the name at once
        ("蝴蝶刀 低于500", [], "", 499),
        ("ナイフ予算500", [], "", 500),
        ("stattraksız ak", ["stattraksız"], "", None),
        ("ak stickersız", ["stickersız"], "", None),
        ("ak stattraksik", [], "", None),
        ("手套50美元", [], "", 50),
        ("ナイフ 300$以下", [], "", 300),
        ("cuchillo 300 $ o menos", [], "", 300),
        ("スタトラ不要", ["スタトラ"], "", None),
        ("スタトラ不要 ak", ["スタトラ"], "", None),
        ("ak スタトラ不要 100ドル以下", ["スタトラ"], "", 100),
        ("ak红线不要暗金", ["暗金"], "", None),
        ("暗金不要", ["暗金"], "", None),
        ("不要暗金", ["暗金"], "", None),
    ],
)
def test_exclusions_orders_and_amounts_too(text: str, not_wanted: list[str], sort: str, high: int | None) -> None:
    parse = parsed(text)
    assert [term.typed for term in parse.excluded] == not_wanted
    assert parse.sort == sort
    assert [int(quantity.high or 0) for quantity in parse.quantities] == ([] if high is None else [high])


@pytest.mark.parametrize(
    "text",
    [
        "gloves between 100 and 200 dollars",
        "handschuhe zwischen 100 und 200 euro",
        "handschuhe von 100$ bis 200$",
        "guantes entre 100 y 200 dólares",
        "gants de 100 à 200 euros",
        "luvas entre $100 e $200",
        "перчатки между 100 и 200$",
        "rękawice między 100 a 200 dolarów",
        "100 ile 200 dolar arası eldiven",
        "手套100到200刀",
        "グローブ 100ドルから200ドル",
        "장갑 100달러에서 200달러",
    ],
)
def test_ranges_have_words_of_their_own_in_each_language(text: str) -> None:
    (quantity,) = parsed(text).quantities
    assert (quantity.field, str(quantity.low), str(quantity.high)) == ("price", "100", "200")


@pytest.mark.parametrize(
    "text", ["knives and gloves", "couteaux, gants", "ножи и перчатки", "facas e luvas", "ナイフやグローブ", "刀和手套"]
)
def test_two_types_are_either_in_each_language(text: str) -> None:
    (term,) = parsed(text).terms
    types = {value for option in term.options for value in values_of(option.meanings, "type")}
    assert types == {"Knife", "Gloves"}


@pytest.mark.parametrize("text", ["칼 500$ 이상", "ナイフ 500 $以上", "刀 500刀以上", "刀 $500以上", "нож 500$ и выше"])
def test_a_bound_may_stand_behind_a_currency(text: str) -> None:
    parse = parsed(text)
    (quantity,) = parse.quantities
    assert (quantity.low, quantity.high) == (Decimal(500), None)
    assert [term.meanings[0].names[0] for term in parse.terms] == ["Knife"]


@pytest.mark.parametrize(
    "text",
    [
        "ナイフ 100ドル以上200ドル以下",
        "칼 100달러 이상 200달러 이하",
        "刀 100刀以上200刀以下",
        "刀 100美元以上，$200以下",
    ],
)
def test_two_bounds_after_their_amounts_both_hold(text: str) -> None:
    lowest, highest = parsed(text).quantities
    assert (lowest.low, lowest.high, highest.low, highest.high) == (Decimal(100), None, None, Decimal(200))


@pytest.mark.parametrize(
    ("text", "high"), [("ak 47 bis 100", 100), ("glock 18 à 50$", 50), ("m4a4 до 50", 50), ("zeus x27 bis 50", 50)]
)
def test_a_name_with_a_number_begins_no_range(text: str, high: int) -> None:
    (quantity,) = parsed(text).quantities
    assert (quantity.low, quantity.high) == (None, Decimal(high))
    assert parsed("2a2f").quantities == ()


@pytest.mark.parametrize(
    ("text", "not_wanted", "wanted"),
    [
        ("статтрек не нужен ак", "статтрек", ["AK-47"]),
        ("не нужен статтрек ак", "статтрек", ["AK-47"]),
        ("ак статтрек не нужен до 50$", "статтрек", ["AK-47"]),
        ("ак не надо", "ак", []),
    ],
)
def test_several_words_of_exclusion_are_of_the_quality_beside_them(
    text: str, not_wanted: str, wanted: list[str]
) -> None:
    assert [term.typed for term in parsed(text).excluded] == [not_wanted]
    assert meanings_of(text) == wanted


@pytest.mark.parametrize("text", ["ak 47 y 20", "m4a4 und 5 keys", "awp ile 4 sticker", "de ak 47"])
def test_these_words_beside_other_numbers_are_none_of_ranges(text: str) -> None:
    assert parsed(text).quantities == ()


@pytest.mark.parametrize(
    "text", ["параметр износа: 0.24", "蝴蝶刀 磨损：0.24", "蝴蝶刀磨损0.24", "노바 플로트: 0.24", "знос:0.24"]
)
def test_a_colon_may_stand_before_the_number(text: str) -> None:
    (quantity,) = parsed(text).quantities
    assert (quantity.field, quantity.certain) == ("float", True)


@pytest.mark.parametrize(
    ("text", "meanings", "fillers"),
    [
        ("chroma case key", ["", "case", "Key"], []),  # the key's name has the case's word
        ("ключ от кейса chroma", ["Key", "", "case", ""], ["от"]),
        ("ключ кейс революция", ["Key", "revolution case"], []),
        ("кейс chroma", ["case", ""], []),
    ],
)
def test_a_key_is_said_with_what_it_opens(text: str, meanings: list[str], fillers: list[str]) -> None:
    (parse,) = parse_query(text, [CS2]).parses
    assert [term.meanings[0].names[0] if term.meanings else "" for term in parse.terms] == meanings
    assert [term.typed for term in parse.terms if term.is_filler] == fillers


def test_a_bound_behind_an_amount_makes_no_amount_of_the_name_after_it() -> None:
    parse = parsed("m4a4 20刀以下 二西莫夫")
    assert [term.typed for term in parse.terms] == ["m4a4", "二西莫夫"]
    assert [quantity.high for quantity in parse.quantities] == [20]


def test_a_part_of_a_borrowed_word_ends_with_its_syllable() -> None:
    assert CS2.merged_vocabulary.segments("デザの") == ["デザ", "の"]
    assert CS2.merged_vocabulary.segments("デザートの") == ["デザート", "の"]


def test_a_shorter_word_is_read_where_a_longer_one_leaves_a_scrap() -> None:
    assert {"全息", "全息贴"} <= CS2.merged_vocabulary.entries.keys()
    assert CS2.merged_vocabulary.segments("全息贴ak") == ["全息贴", "ak"]
    assert CS2.merged_vocabulary.segments("全息贴纸") == ["全息", "贴纸"]


def test_a_year_is_parted_from_the_name_behind_it_where_words_have_no_blanks() -> None:
    assert [term.typed for term in parsed("上海2024donk贴纸").terms] == ["上海", "2024", "donk", "贴纸"]


def test_a_name_with_blanks_between_words_that_have_none_is_one() -> None:
    (parse,) = parse_query("军火交易 2 号收藏品", [CS2]).parses
    assert [meaning.names for term in parse.terms for meaning in term.meanings] == [("The Arms Deal 2 Collection",)]


def test_other_letters_are_look_alikes_and_both_layouts() -> None:
    vocabulary = Vocabulary(look_alikes={"а": "a"}, keyboard=("йцукен",))
    assert list(other_letters("АК йц", vocabulary)) == ["aк йц", "аr qw"]
    assert list(other_letters("qw", vocabulary)) == ["йц"]
    assert list(other_letters("-", vocabulary)) == []


def test_a_text_or_its_unknown_words_alone_are_typed_on_another_layout() -> None:
    readings = list(other_letters("awp dktlahvm 47", CS2.merged_vocabulary))
    assert readings[:2] == ["ㅁ제 아시모프 47", "awp 아시모프 47"]
    assert list(other_letters("ㅁ제 ㄱㄷ이ㅑㅜㄷ", CS2.merged_vocabulary)) == ["awp redline"]


def test_vocabularies_are_merged_field_by_field() -> None:
    first = Vocabulary(fields={"type": {"Key": ("keys",)}}, fillers=("a",), narrowing=frozenset({"type"}))
    second = Vocabulary(
        fields={"type": {"Key": ("clef",)}, "weapon": {"AWP": ("awe",)}},
        look_alikes={"а": "a"},
        narrowing=frozenset({"weapon"}),
        exclusions_after=("nope",),
    )
    both = merged([first, second, second])
    assert both.fields == {"type": {"Key": ("keys", "clef", "clef")}, "weapon": {"AWP": ("awe", "awe")}}
    assert (both.fillers, both.narrowing) == (("a",), frozenset({"type", "weapon"}))
    assert dict(both.look_alikes) == {"а": "a"}
    assert both.entries["nope"].role is Role.EXCLUSION_AFTER


STRICT = [
    "ak float less than 0.07", "フロート0.07未満", "플롯 0.07 미만", "磨损小于0.07", "磨损 低于 0.07", "磨損低於0.07",
    "float 0.07'den düşük", "float 0.07 altı", "Float unter 0.07", "float inferior a 0.07", "float sous 0.07",
    "float sotto 0.07", "float abaixo de 0.07", "float poniżej 0.07", "флоат меньше 0.07", "флоат менше 0.07",
]  # fmt: skip
INCLUSIVE = [
    "ak float at most 0.07", "フロート0.07以下", "플롯 0.07 이하", "磨损不超过0.07", "磨损0.07以下",
    "float 0.07 ve altı", "Float höchstens 0.07", "float hasta 0.07", "float fino a 0.07", "float até 0.07",
    "float do 0.07", "флоат до 0.07",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "is_strict"), [*((each, True) for each in STRICT), *((each, False) for each in INCLUSIVE)]
)
def test_less_than_a_float_excludes_it_and_at_most_includes_it(text: str, is_strict: bool) -> None:
    (quantity,) = parsed(text).quantities
    assert (quantity.field, quantity.low) == ("float", None)
    assert quantity.high is not None
    assert (quantity.high < Decimal("0.07")) is is_strict


@pytest.mark.parametrize("text", ["0.2超えのak", "ak 0.2 초과", "ak float 大于0.2", "ak float über 0.2"])
def test_more_than_a_float_excludes_it(text: str) -> None:
    (quantity,) = parsed(text).quantities
    assert quantity.low is not None
    assert quantity.low > Decimal("0.2")


@pytest.mark.parametrize("text", ["ak 50ドル未満", "ak 50달러 미만", "低于50刀的ak", "ak less than $50"])
def test_less_than_a_price_excludes_it(text: str) -> None:
    (quantity,) = parsed(text).quantities
    assert quantity.field == "price"
    assert quantity.high == Decimal("49.99")


def test_a_bound_of_a_script_without_blanks_may_be_followed_by_latin_letters() -> None:
    (quantity,) = parsed("300以内usp猎户").quantities
    assert quantity.high == 300


@pytest.mark.parametrize("text", ["AK 100 DOLARDAN AŞAĞI", "ak 100 dolardan aşağı"])
def test_letters_without_a_small_one_of_their_own_are_read(text: str) -> None:
    (quantity,) = parsed(text).quantities
    assert quantity.high == Decimal("99.99")


def test_letters_and_digits_may_be_of_full_width() -> None:
    (quantity,) = parsed("ＡＫ４７　５０ドル以下　ＦＴ").quantities
    assert quantity.high == 50
    assert meanings_of("ＡＫ４７　５０ドル以下　ＦＴ") == ["AK-47", "Field-Tested"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ピンクのAWP", ["ピンク", "の", "AWP"]),  # no pin
        ("スカーレットシュマグ", ["スカーレットシュマグ"]),  # no SCAR
        ("アオイロケース", ["アオイロ", "ケース"]),
        ("カランビットホゲホゲ", ["カランビット", "ホゲホゲ"]),
    ],
)
def test_a_borrowed_word_is_parted_where_its_parts_are_words(text: str, parts: list[str]) -> None:
    assert [term.typed for term in parsed(text).terms] == parts


def test_a_language_names_no_value_that_english_does_not() -> None:
    """A value is a spelling of itself in every language: with the type Tool in one, `bayonet tool` found nothing."""
    files = {
        file.stem: tomllib.loads(file.read_text("utf-8")) for file in Path("mappings/platforms/730").glob("*.toml")
    }
    own = tomllib.loads(Path("mappings/platforms/730.toml").read_text("utf-8"))["vocabulary"]
    english = (own["fields"], files["en"].get("fields", {}))
    for language, vocabulary in files.items():
        for field, values in vocabulary.get("fields", {}).items():
            english_values = {value for fields in english for value in fields.get(field, {})}
            assert field == "set" or english_values.issuperset(values), f"{language}: {field}"
