"""Names written by ear in another alphabet are found by how they sound."""

import pytest

from mappings.vocabulary.sounds import Sounds

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
