"""Names of several words in another case, each word with its own ending."""

import pytest

from mappings.vocabulary.entries import Entry, Meaning
from mappings.vocabulary.inflection import Inflections
from mappings.vocabulary.words import letters_of
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
RED = Entry(
    (Meaning(words="redline"),),
    2,
    (
        ("красная", "линия"),
        ("редлайн",),
    ),
)
WEB = Entry((Meaning(words="web"),), 3, (("красная", "линия", "паутины"),))


def whole_name(text: str) -> list[str]:
    """What a text means, all of whose words are one spelling."""
    letters = [letters_of([word]) for word in text.split()]
    length, entry = CS2.merged_vocabulary.spelling_at(letters, 0)
    assert length == len(letters)
    return [meaning.words for meaning in entry.meanings] if entry else []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("красной линии", "redline"),
        ("кровавую паутину", "crimson web"),
        ("кровавой паутиной", "crimson web"),
        ("истории о драконе", "dragon lore"),
        ("огненного змея", "fire serpent"),
        ("червоної лінії", "redline"),
        ("czerwonej linii", "redline"),
        ("czerwoną linię", "redline"),
    ],
)
def test_each_word_of_a_name_may_be_inflected(text: str, words: str) -> None:
    assert whole_name(text) == [words]


def test_the_longest_name_counts_and_short_words_have_no_ending() -> None:
    inflections = Inflections([RED, WEB], ["ая", "ой", "я", "и", "у", "ы"], frozenset())
    assert inflections.longest_at(["красной", "линии"], 0, 1) == (2, RED)
    assert inflections.longest_at(["красной", "линии", "паутину"], 0, 1) == (3, WEB)
    assert inflections.longest_at(["красной", "линии"], 0, 2) is None
    assert inflections.longest_at(["красной", "паутину"], 0, 1) is None
    assert inflections.longest_at(["линии"], 0, 1) is None
    assert inflections.longest_at(["краснои", "лини"], 0, 1) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("caisse gants", "glove case"),  # caisse de gants
        ("caixa de luvas", "glove case"),  # caixa das luvas
        ("llave de la caja de guantes", "glove case key"),  # llave de caja de guantes
        ("degradé marbre", "marble fade"),
        ("dente di tigre", "tiger tooth"),
    ],
)
def test_linking_words_of_a_name_may_be_others_or_none(text: str, words: str) -> None:
    assert whole_name(text) == [words]


def test_a_name_is_no_longer_for_a_linking_word_behind_it_and_two_may_be_alike() -> None:
    rain = Entry((Meaning(words="bullet rain"),), 3, (("lluvia", "de", "balas"),))
    hell = Entry((Meaning(words="bullet hell"),), 3, (("lluvia", "del", "balas"), ("la", "bala")))
    drop = Entry((Meaning(words="bullet drop"),), 3, (("lluvia", "de", "bala"),))  # of other words
    inflections = Inflections([rain, hell, drop], ["s"], frozenset({"de", "del", "la"}))
    assert inflections.longest_at(["lluvia", "balas", "de"], 0, 1) == (2, rain.joined(hell))
    assert inflections.longest_at(["la", "bala"], 0, 1) is None  # one word without its article
    assert Inflections([rain], [], frozenset({"de"})).longest_at(["lluvia", "balas"], 0, 1) == (2, rain)


def test_without_endings_there_is_none() -> None:
    assert Inflections([RED], [], frozenset()).longest_at(["красная", "линия"], 0, 1) is None
    assert (
        Inflections([Entry((), 2, (("красная", "линия"),))], ["ая"], frozenset()).longest_at(["красная", "линия"], 0, 1)
        is None
    )
