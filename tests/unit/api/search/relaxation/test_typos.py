"""A text without typos: unknown words are the words that they are but for a typo."""

import pytest

from api.search.relaxation.typos import MAX_RESPELT, without_typos
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms())).merged_vocabulary


@pytest.mark.parametrize(
    ("text", "respelt"),
    [
        ("глок граидент", "глок градиент"),
        ("глок градиент", "глок градиент"),
        ("ak xyzzyx", "ak xyzzyx"),
        ("p250 граидент", "p250 градиент"),
        ("граидент2", "граидент2"),  # a word with a digit means itself
        ("gut please", "gut please"),
        ("anime taste uasdo", "anime taste usado"),  # a short word is an exterior with swapped neighbours alone
        ("格洛克水零略磨", "格洛克 水靈 略磨"),  # typed by ear
        ("awp erximofu", "awp 二西莫夫"),  # as it was typed
        ("其实m4便宜点就行", "其实m4便宜点就行"),  # typed as the Knight, an everyday word
        ("karambit 首先 技术", "karambit 首先 技术"),
    ],
)
def test_unknown_words_are_known_ones_with_a_typo(text: str, respelt: str) -> None:
    assert without_typos(text, CS2).split() == respelt.split()


def test_a_text_of_many_unknown_words_is_looked_through_for_no_typos() -> None:
    few, many = (" ".join(["vulcann", *["qqqqq"] * more]) for more in (MAX_RESPELT - 1, MAX_RESPELT))
    assert without_typos(few, CS2).startswith(" vulcain ")
    assert without_typos(many, CS2) == many


@pytest.mark.parametrize(
    ("text", "respelt"),
    [
        ("ak niht mehr als 50", "ak nicht mehr als 50"),
        ("ak incht mehr als 16", "ak nicht mehr als 16"),  # a year, too
        ("ak 50 odlarów", "ak 50 dolarow"),
        ("ak mens de 50", "ak menos de 50"),
        ("ak mxns de 50", "ak mxns de 50"),  # of four letters, another one is chance
        ("redline undr or so it is said 50", "redline undr or so it is said 50"),  # too far from it
        ("cover ak 47", "covert ak 47"),  # the number is of a name
        ("ak minmale gebrauchsspuren", "ak minimale gebrauchsspuren"),
        ("ak nova de fábrrica", "ak nova de fabrica"),
        ("ak stattrrak mw", "ak statttrak mw"),  # `mw` is a value by itself
        ("ak tsattrak", "ak stattrak"),
        ("ak qqqqsız", "ak qqqqsız"),
        ("ak stattrraksız", "ak statttraksiz"),
        ("sawed off znder under 5", "sawed off znder under 5"),  # `zonder` would exclude nothing
        ("ak exept fade", "ak except fade"),
        ("ak exept stattrak", "ak except stattrak"),
    ],
)
def test_bounds_and_values_have_typos(text: str, respelt: str) -> None:
    assert without_typos(text, CS2).split() == respelt.split()
