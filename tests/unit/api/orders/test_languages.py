"""The language of a browser: the first that there is, in its script, else English."""

import pytest

from api.orders.page import preferred

CODES = ("en", "de", "pt-BR", "zh-Hans", "zh-Hant")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en;q=0.5, de;q=0.8", "de"),
        ("en;q=0.5,de;q=0", "en"),
        ("fi, pt-PT", "pt-BR"),
        ("PT", "pt-BR"),
        ("zh", "zh-Hans"),
        ("zh-SG", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh-Hant-HK", "zh-Hant"),
        ("de;q=much,zh-MO", "zh-Hant"),
        ("fi", "en"),
        ("*", "en"),
        ("", "en"),
        (",;q=,-", "en"),
        ("x" * 2000 + ",de", "en"),
    ],
)
def test_the_first_language_that_there_is(header: str, code: str) -> None:
    assert preferred(header, CODES) == code
