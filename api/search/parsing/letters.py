"""Other readings of a text's letters: look-alikes, a wrong keyboard layout, names written by ear. Pure."""

from collections.abc import Iterator, Mapping

from mappings.vocabulary.vocabulary import KEYS, Vocabulary
from mappings.vocabulary.words import letters_of, words_and_gaps

MAX_HEARD = 4  # words that may be one name by ear


def other_letters(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """The text in the letters that were meant, one reading for each alphabet that may have been taken for another."""
    small = text.lower()
    readings = [_written(small, vocabulary.look_alikes)]
    for layout in vocabulary.keyboard:
        readings += [_written(small, dict(zip(layout, KEYS, strict=False)))]
        readings += [_written(small, dict(zip(KEYS, layout, strict=False)))]
    yield from dict.fromkeys(reading for reading in readings if reading != small)


def by_ear(text: str, vocabulary: Vocabulary) -> str:
    """The text with names in the place of unknown words that sound like them in another alphabet."""
    if text.isascii() or not vocabulary.sounds:
        return text
    words, gaps = words_and_gaps(text)
    letters = [letters_of([word]) for word in words]
    unknown = {
        at
        for at, _, entry in vocabulary.cut(letters)
        if entry is None and not letters[at].isascii() and letters[at] not in vocabulary.ignored
    }
    heard, at = gaps[:1], 0
    while at < len(words):
        length = next((length for length in range(MAX_HEARD) if at + length not in unknown), MAX_HEARD)
        lengths = (
            (each, vocabulary.by_sound.name_of("".join(letters[at : at + each]))) for each in range(length, 0, -1)
        )
        end, name = next(((at + each, name) for each, name in lengths if name), (at + 1, words[at]))
        heard += [name, gaps[end]]
        at = end
    return "".join(heard)


def _written(text: str, letters: Mapping[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in text)
