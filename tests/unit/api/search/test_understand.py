"""What a buyer typed becomes words with their joins, or marks where there are no words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.understand import LONGEST_JOIN, Understood, understand


@pytest.mark.parametrize("text", ["", "   ", "\t\r\n", "\x00", "\u00a0\u2003"])
def test_blank_text_asks_for_everything(text: str) -> None:
    assert understand(text).everything


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("redline", (("redline",),)),
        ("ak 47", (("ak", "ak47"), ("47", "ak47"))),
        ("AK-47", (("AK", "AK47"), ("47", "AK47"))),
        (
            "m4 a1 s",
            (("m4", "m4a1", "m4a1s"), ("a1", "m4a1", "a1s", "m4a1s"), ("s", "a1s", "m4a1s")),
        ),
        ("StatTrak™ ★", (("StatTrak",),)),
        ("Jo\u0308rmungandr", (("Jörmungandr",),)),
        ("a\x00b", (("a", "ab"), ("b", "ab"))),
    ],
)
def test_words_are_asked_for_alone_and_joined_with_their_neighbours(
    text: str, words: tuple[tuple[str, ...], ...]
) -> None:
    assert [set(group) for group in understand(text).words] == [set(group) for group in words]


@pytest.mark.parametrize("text", ["★", "♥", " $ ~ "])
def test_marks_alone_are_asked_for_as_they_are(text: str) -> None:
    assert understand(text) == Understood((), text.strip())


@given(st.text(max_size=200))
def test_any_text_is_understood_within_the_engines_limit_of_clauses(text: str) -> None:
    asked = understand(text)
    most_spellings = LONGEST_JOIN * (LONGEST_JOIN + 1) // 2
    assert all(1 <= len(group) <= most_spellings for group in asked.words)
    # OpenSearch refuses a query of more than 1,024 clauses (indices.query.bool.max_clause_count)
    assert sum(len(group) for group in asked.words) <= 100 * most_spellings < 1024
