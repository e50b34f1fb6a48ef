"""Names written by ear in another alphabet are found by how they sound."""

import pytest

from mappings.vocabulary.sounds import Loanwords, Sounds
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms())).merged_vocabulary

LETTERS = dict(zip("абвгдеийклмнорстуфхья", "abvgdeiiklmnorstufh", strict=False)) | {
    "ь": "",
    "я": "a",
    "п": "p",
    "ш": "sh",
    "ч": "ch",
}
NAMES = (
    "Hyper Beast",
    "Kill Confirmed",
    "Slate",
    "Sleet",
    "Nightwish",
    "Doppler",
    "壱",
    "Whirl Which Haunt Chip Thatch Hutch",
)
SOUNDS = Sounds(NAMES, LETTERS)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("хайпербист", "hyper beast"),
        ("слейт", "slate"),
        ("слит", "sleet"),
        ("килконфирмед", "kill confirmed"),
        ("килконфирм", "kill confirmed"),  # the beginning tells it
        ("бист", "beast"),  # a word of a name
        ("доплер", "doppler"),
        ("вирлвичхантчиптачхач", "whirl which haunt chip thatch hutch"),  # in more ways than are tried
        ("доп", ""),  # too short for a beginning
        ("смурф", ""),
        ("осолатоу", ""),  # the same consonants, but unlike in the rest
    ],
)
def test_a_word_stands_for_the_name_that_it_sounds_like(written: str, name: str) -> None:
    assert SOUNDS.name_of(written) == name


SYLLABLES = {**CS2.syllables}
LOANWORDS = Loanwords(
    ("Golden Coil", "Justice", "Judgement of Anubis", "Lil' Happy", "Sea", "Star Lore", "龍王", "Printstream"),
    SYLLABLES,
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ゴールデンコイル", "golden coil"),
        ("골든코일", "golden coil"),
        ("저스티스", "justice"),
        ("ジャスティス", ""),  # two consonants, and unlike in the rest
        ("ジャッジメントオブアヌビス", "judgement of anubis"),
        ("프린트스트림", "printstream"),
        ("スター", "star"),  # a word of a name
        ("リルハッピー", "lil happy"),  # two consonants, but of a name of several words
        ("ラパ", ""),
        ("セー", ""),  # one consonant
        ("☃", ""),
    ],
)
def test_a_word_in_syllables_stands_for_the_name_that_it_sounds_like(written: str, name: str) -> None:
    assert LOANWORDS.name_of(written) == name


def test_words_in_syllables_are_remembered_up_to_a_bound() -> None:
    loanwords = Loanwords(("Golden Coil",), SYLLABLES, max_remembered=2)
    assert [
        loanwords.name_of(word) for word in ("ゴールデンコイル", "ゴルデンコイル", "골든코일", "ゴールデンコイル")
    ] == ["golden coil"] * 4
