"""Other readings of a text: look-alike letters, a wrong keyboard layout, words of other languages. Pure."""

from collections.abc import Iterator, Mapping

from api.search.parsing.terms import segmented
from mappings.vocabulary.entries import Entry
from mappings.vocabulary.vocabulary import KEYS, Vocabulary
from mappings.vocabulary.words import letters_of, words_and_gaps

MAX_HEARD = 4  # words that may be one name by ear
MIN_PART = 4  # letters of a word that is written together with another one


def other_letters(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """The text in the letters that were meant, one reading for each alphabet that may have been taken for another."""
    small = text.lower()
    readings = [_written(small, vocabulary.look_alikes)]
    for layout in vocabulary.keyboard:
        readings += [_written(small, dict(zip(layout, KEYS, strict=False)))]
        readings += [_written(small, dict(zip(KEYS, layout, strict=False)))]
    yield from dict.fromkeys(reading for reading in readings if reading != small)


def in_english(text: str, vocabulary: Vocabulary, *, of_names: bool = False) -> str:
    """The text with words of names in the place of unknown ones: those that they translate, or that they sound like.

    `of_names`: words that are known as names of something else are translated, too (`Massacre`: Slaughter).
    """
    words, gaps = segmented(*words_and_gaps(text), vocabulary)
    letters = [letters_of([word]) for word in words]
    unknown = {
        place
        for at, length, entry in vocabulary.cut(letters)
        if (entry is None and letters[at] not in vocabulary.ignored)
        or (of_names and entry is not None and entry.is_name)
        for place in range(at, at + length)
    }
    english, at = gaps[:1], 0
    while at < len(words):
        run = next((length for length in range(MAX_HEARD) if at + length not in unknown), MAX_HEARD)
        length, name = _name_at(letters[at : at + run], vocabulary)
        english += [f" {name} " if name else words[at], gaps[at + length]]
        at += length
    return "".join(english)


def _name_at(letters: list[str], vocabulary: Vocabulary) -> tuple[int, str]:
    """How many of the words are written in place of what name or words of names; none: a word, empty."""
    if not letters:
        return 1, ""
    length, entry = vocabulary.lexicon.spelling_at(letters, 0)
    if entry is not None:
        return length, _either(entry)
    parts = vocabulary.lexicon.segments(letters[0])
    if len(parts) > 1:
        return 1, " ".join(_part(part, vocabulary) or part for part in parts)
    for cut in range(len(letters[0]) - MIN_PART, MIN_PART - 1, -1):  # `Feuerschlange`
        first, last = _part(letters[0][:cut], vocabulary), _part(letters[0][cut:], vocabulary)
        if first and last:
            return 1, f"{first} {last}"
    if vocabulary.sounds and not letters[0].isascii():
        for length in range(len(letters), 0, -1):
            if name := vocabulary.by_sound.name_of("".join(letters[:length])):
                return length, name
    return 1, ""


def _part(part: str, vocabulary: Vocabulary) -> str:
    """What a part of a word is in English; unknown: empty."""
    _, entry = vocabulary.lexicon.spelling_at([part], 0)
    return _either(entry) if entry is not None else part if part in vocabulary.words_of_finishes else ""


def _either(entry: Entry) -> str:
    """What a word translates: any of several words, else the first of several names."""
    words = [meaning.words for meaning in entry.meanings]
    return "/".join(each for each in words if " " not in each) or words[0]


def _written(text: str, letters: Mapping[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in text)
