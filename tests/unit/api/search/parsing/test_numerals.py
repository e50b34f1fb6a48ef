"""Amounts in words, in English and in other languages."""

import pytest

from api.search.parsing.numerals import with_digits
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms

CS2 = next(platform.merged_vocabulary for platform in shared_platforms() if platform.id == 730)
GERMAN = Vocabulary(amounts={"under": ("unter", "weniger als"), "eur": ("euro",), "max": ("maximal",)})


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("ak under twenty dollars", "ak under 20 usd"),
        ("a hundred bucks", "100 bucks"),
        ("under two hundred and fifty", "under 250"),
        ("under two thousand five hundred", "under 2500"),
        ("under a grand", "under 1000"),
        ("between ten and twenty-five dollars", "between 10 and 25 usd"),
        ("between two hundred and three hundred bucks", "between 200 and 300 bucks"),
        ("two hundred three thousand dollars", "203000 usd"),
        ("under half a dollar", "under 0.5 usd"),
        ("poniżej dolara", "under 1 usd"),
        ("за полдоллара", "at most 0.5 usd"),
        ("半美元以内", "0.5 usd max"),
        ("yirmi dolar altı", "20 usd <max"),
        ("dollar sticker", "dollar sticker"),
        ("float under zero point zero two", "float under 0.02"),
        ("point oh five float", "0.05 float"),
        ("under two point five dollars", "under 2.5 usd"),
        ("zweihundert bis dreihundert euro", "between 200 - 300 eur"),
        ("abaixo dos 50 dólares", "under 50 usd"),
        ("un massimo di 50$", "max 50$"),
        ("hasta usd 50", "at most usd 50"),
        ("zwischen fünfzig und hundert euro", "between 50 - 100 eur"),
        ("between fifty and one hundred bucks", "between 50 and 100 bucks"),
        ("五百到六百美元", "between 500 - 600 usd"),
        ("sub-40", "sub 40"),
        ("twentyfive bucks", "25 bucks"),
        ("twenty to thirty bucks", "20 to 30 bucks"),
        ("two hundred max", "200 max"),
        ("fifty or less", "50 or less"),
        ("player two max 50", "player two max 50"),
        ("under 1.5 thousand", "under 1500"),
        ("under $2 thousand", "under $2000"),
        ("below 2.5 million", "below 2500000"),
        ("under two million five hundred thousand", "under 2500000"),
        ("за 2 млн", "at most 2000000"),
        ("m4a4 l'empereur tres peu usee", "m4a4 l'empereur tres peu usee"),  # no euros
        ("player two", "player two"),
        ("two times", "two times"),
        ("under tenacious", "under tenacious"),
    ],
)
def test_amounts_are_written_in_digits(text: str, digits: str) -> None:
    assert " ".join(with_digits(text, CS2).split()) == digits


@pytest.mark.parametrize(
    ("text", "english"),
    [("필테 이상 300달러까지", "필테 이상 300 usd max"), ("필테 이상 300 max", "필테 이상 300 max")],
)
def test_a_bound_before_an_amount_with_its_own_is_of_what_stands_before(text: str, english: str) -> None:
    assert " ".join(with_digits(text, CS2).split()).rstrip(",") == english


COUNTED = Vocabulary(
    amounts={"under": ("unter", "до", "低于"), "usd": ("euro", "баксов", "刀", "달러"), "max": ("이하", "altında")},
    ranges=("zwischen … und",),
    numerals={
        0: ("und", "y"),
        2: ("zwei", "две", "两"),
        5: ("fünf", "cinco", "五", "오"),
        20: ("zwanzig",),
        30: ("treinta", "三十"),
        50: ("fünfzig", "пятьдесят", "五十", "오십"),
        100: ("hundert", "百", "백", "yüz"),
        200: ("двести", "двухсот"),
        1000: ("tausend", "тысячи", "千"),
        10_000: ("万", "만"),
    },
)


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("ak до двухсот", "ak under 200"),
        ("две тысячи двести пятьдесят баксов", "2250 usd"),
        ("2 тысячи баксов", "2000 usd"),
        ("2,5 тысячи баксов", "2500 usd"),
        ("unter zweihundertfünfzig", "under 250"),
        ("fünfundzwanzig Euro", "25 usd"),
        ("zwischen zwanzig und fünfzig Euro", "between 20 - 50 usd"),
        ("unter zwanzigjährig", "unter zwanzigjährig"),
        ("treinta y cinco euro", "35 usd"),
        ("龙王低于两百", "龙王 under 200"),
        ("三十五刀", "35 usd"),
        ("两万五千刀", "25000 usd"),
        ("2万5刀", "25000 usd"),
        ("1万5千刀", "15000 usd"),
        ("1万2千3百刀", "12300 usd"),
        ("1万50刀", "10050 usd"),
        ("1만5천 달러", "15000 usd"),
        ("低于2w5的刀", "under 25000的刀"),
        ("1.5w刀", "15000 usd"),
        ("2w5", "2w5"),  # no Chinese
        ("低于两万五", "under 25000"),
        ("低于两百五", "under 250"),
        ("低于百五", "under 150"),
        ("低于两千五", "under 2500"),
        ("低于五百五把", "under 500五把"),  # five of them
        ("3百刀", "300 usd"),
        ("3百", "3百"),  # no amount
        ("1万 5千刀", "15000 usd"),
        ("awp1万5刀", "awp 15000 usd"),
        ("低于1万5千.", "under 15000."),
        ("低于两百五ドル", "under 205ドル"),  # Japanese has no such number
        ("2万5ドル刀", "20005ドル刀"),
        ("phase 2 百刀", "phase 2 100 usd"),
        ("2w", "2w"),
        ("刀 1w-2w", "刀 10000-20000"),
        ("n0w 刀", "n0w 刀"),
        ("两千零五刀", "两千零5 usd"),
        ("칼 백오십달러", "칼 150 usd"),
        ("yüz altında bıçak", "100 max bıçak"),
        ("двести наклеек", "двести наклеек"),  # no amount
    ],
)
def test_amounts_of_other_languages_are_written_in_digits(text: str, digits: str) -> None:
    assert " ".join(with_digits(text, COUNTED).split()) == digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("m9百刀", "m9百刀"),
        ("m9 百刀", "m9 100 usd"),
        ("m9 千刀", "m9 1000 usd"),
        ("m9万5刀", "m9万5 usd"),
        ("m8百刀", "m800 usd"),
    ],
)
def test_digits_of_a_name_are_not_multiplied(text: str, digits: str) -> None:
    assert " ".join(with_digits(text, CS2).split()) == digits


@pytest.mark.parametrize(("digit", "value"), list(zip("一二三四五六七八九", range(1, 10), strict=True)))
@pytest.mark.parametrize(("scale", "tenth"), [("百", 10), ("千", 100), ("万", 1000)])
def test_the_last_digit_of_a_chinese_number_is_of_the_scale_below(
    scale: str, tenth: int, digit: str, value: int
) -> None:
    assert with_digits(f"低于三{scale}{digit}", CS2).split() == ["under", str(30 * tenth + value * tenth)]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("unter 50", "under 50"),
        ("Weniger  als 50 euro", "under 50 eur "),
        ("50euro maximal", "50 eur max "),
        ("50 maximal euro", "50 max  euro"),
        ("unter uns", "unter uns"),
        ("munter 50", "munter 50"),
    ],
)
def test_words_beside_amounts_are_written_in_english(text: str, english: str) -> None:
    assert with_digits(text, GERMAN) == english


KOREAN = Vocabulary(amounts={"usd": ("불", "달러"), "max": ("달러 이하",)})


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("50불짜리 칼", "50 usd 짜리 칼"),
        ("50 불", "50 usd "),
        ("sg 553 불도저", "sg 553 불도저"),  # bulldozer
        ("50 달러짜리", "50 usd 짜리"),
        ("50달러 이하", "50 max "),
    ],
)
def test_a_single_korean_letter_behind_a_blank_is_a_word_of_its_own(text: str, english: str) -> None:
    assert with_digits(text, KOREAN) == english


MONEY = Vocabulary(
    amounts={
        "under": ("до",),
        "¤RUB": ("руб", "р", "₽"),
        "¤JPY max": ("円以下",),
        "¤TRY": ("tl",),
        "¤BRL": ("r$",),
    }
)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("до 3000 руб", "under 3000 ¤RUB "),
        ("до ₽3000", "under ¤RUB 3000"),
        ("3k руб", "3k ¤RUB "),
        ("ак 47 редлайн", "ак 47 редлайн"),  # no `р`
        ("5000円以下ナイフ", "5000 ¤JPY max ナイフ"),
        ("R$246,74", "¤BRL 246,74"),
        ("500 tl", "500 ¤TRY "),
        ("cologne 2015 tl", "cologne 2015 tl"),  # a year and a team
    ],
)
def test_other_currencies_are_written_as_their_codes(text: str, english: str) -> None:
    assert with_digits(text, MONEY) == english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("磨损小于0.07", "float under 0.07"),
        ("磨损 不超过 0.07", "float at most 0.07"),
        ("磨损小于 ak 50刀", "磨损小于 ak 50 usd"),  # no amount behind the bound
        ("磨损度小 ak 50刀", "磨损度小 ak 50 usd"),
        ("İ ak 50 DOLARDAN AŞAĞI", "İ ak 50 usd <max"),  # a letter that has no small one of its length
        ("ak 50", "ak 50"),
    ],
)
def test_a_bound_may_stand_between_the_word_for_a_float_and_the_number(text: str, english: str) -> None:
    assert " ".join(with_digits(text, CS2).split()) == english


def test_a_vocabulary_without_words_beside_amounts_leaves_them() -> None:
    assert with_digits("ak 50 дол", Vocabulary()) == "ak 50 дол"
    assert not CS2.amount_words.has("redline")


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("м9 не дешевле 100 и не дороже 150 руб", "м9 , min 100 , max 150 ¤RUB"),
        ("ак не дешевле $100 и не дороже $150", "ак min $100 , max $150"),
        ("en az 40 dolar en çok 60 dolar", "min 40 usd, max 60 usd"),
        ("ak 47 max 50 euro minimum 20", "ak 47 max 50 eur, min 20"),
        ("ak-47 максимум 50", "ak-47 , max 50"),
        ("ak 100€ minimum 200€ maximum", "ak 100 eur min, 200€ max"),
        ("m9 100ドル以上 200ドル以下", "m9 100 usd min, 200 usd max"),
        ("MP9 最便宜", "MP9 最便宜"),
        ("seed 387 oder 179", "seed 387 or 179"),
        ("ak 47 oder vulcan", "ak 47 oder vulcan"),
        ("phase 4 bajonett bis 500", "phase 4 bajonett at most 500"),
        ("float 0.2 ile 0.25 arası", "float between 0.2 - 0.25 arası"),
        ("20 dólares pra cima", "20 usd or more"),
        ("AWP 3000到1万", "AWP between 3000 - 10000"),
        ("до 2 000 руб", "at most 2000 ¤RUB"),
        ("до 3к$", "at most 3k$"),
        ("до 2тыс руб", "at most 2000 ¤RUB"),
        ("до 50 копеек", "at most 50 ¤RUBc"),
        ("under a dollar", "under 1 usd"),
        ("under half a buck", "under 0.5 buck"),
    ],
)
def test_a_bound_is_of_the_amount_that_has_none(text: str, english: str) -> None:
    assert " ".join(with_digits(text, CS2).split()) == english


@pytest.mark.parametrize("text", ["ak z4kr gold", "ak gr1ks foil", "gr1ks"])
def test_letters_beside_the_digit_of_a_nickname_are_no_currency(text: str) -> None:
    assert with_digits(text, CS2) == text


def test_letters_joined_with_an_amount_are() -> None:
    assert with_digits("ak do5zl", CS2).split() == ["ak", "at", "most", "5", "¤PLN"]
    assert with_digits("ak 4kr", CS2).split() == ["ak", "4", "¤SEK"]
    assert with_digits("ak kr40", CS2).split() == ["ak", "¤SEK", "40"]


def test_a_bound_behind_the_number_of_a_name_is_no_beginning_of_a_word() -> None:
    assert with_digits("P250 超新星", CS2) == "P250 超新星"
    assert with_digits("250超", CS2).split() == ["250", ">min"]
