"""Names that belong together, however they are parted."""

import pytest

from mappings.vocabulary.phrases import Phrases

NAMES = Phrases(["Dragon Lore", "Fade", "Lore", "Fire and Ice"])


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        (["dragon", "lore"], 2, 2),
        (["dragonlore"], 1, 0),
        (["dra", "gonlore"], 2, 2),
        (["d", "ragon", "lore"], 0, 0),  # more words than the name has
        (["fade", "dragon"], 1, 0),
        (["old", "dragon", "lore"], 0, 2),
        (["fire", "and", "ice"], 3, 3),
        (["fi", "re"], 0, 0),
        (["awp"], 0, 0),
        ([], 0, 0),
    ],
)
def test_a_name_is_found_at_both_ends_of_words(words: list[str], first: int, last: int) -> None:
    assert (NAMES.length_at(words, 0), NAMES.last_length(words)) == (first, last)


def test_names_shorter_than_what_is_compared_are_found() -> None:
    names = Phrases(["P", "Dragon Lore"])
    assert [names.length_at(words, 0) for words in (["p", "awp"], ["dragon", "lore"], ["x"])] == [1, 2, 0]


def test_there_may_be_none() -> None:
    none = Phrases([])
    assert (none.longest, none.length_at(["fade"], 0), none.last_length(["fade"]), "fade" in none) == (0, 0, 0, False)
