"""Other readings of a text's letters: look-alikes of another alphabet, and a wrong keyboard layout. Pure."""

from collections.abc import Iterator, Mapping

from mappings.vocabulary.vocabulary import KEYS, Vocabulary


def other_letters(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """The text in the letters that were meant, one reading for each alphabet that may have been taken for another."""
    small = text.lower()
    readings = [_written(small, vocabulary.look_alikes)]
    for layout in vocabulary.keyboard:
        readings += [_written(small, dict(zip(layout, KEYS, strict=False)))]
        readings += [_written(small, dict(zip(KEYS, layout, strict=False)))]
    yield from dict.fromkeys(reading for reading in readings if reading != small)


def _written(text: str, letters: Mapping[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in text)
