"""Other ways to write a text: look-alike letters, a wrong keyboard layout, words of other languages. Pure."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import takewhile

from api.search.parsing.words import segmented
from api.search.relaxation.typos import is_value_of
from mappings.vocabulary.entries import Entry, Role
from mappings.vocabulary.hangul import letters_typed, syllables_of
from mappings.vocabulary.schema import KEYS
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, words_and_gaps

_KATAKANA = re.compile(r"[\u30a0-\u30ff]+")  # such a word is borrowed as a whole: `フロート` is not of `ロード`
_SYLLABLES = re.compile(r"[\u30a0-\u30ff]+|[\uac00-\ud7af]+")
_HIRAGANA = re.compile(r"[\u3041-\u3096\u30fc]{3,}")
_TO_KATAKANA = {letter: letter + 0x60 for letter in range(0x3041, 0x3097)}
_JAMO = re.compile(r"[\u3131-\u3163]")
_NOT_BLANK = re.compile(r"\S+")
_SYLLABIC = re.compile(rf"(?:{_SYLLABLES.pattern})(?:\s+(?:{_SYLLABLES.pattern}))*")
MIN_SYLLABLES = 3  # of a name by ear
MAX_JOINED_PARTS = 3  # of a word that is written together
MAX_JOINED_LETTERS = 24
MAX_SYLLABIC_WORDS = 12  # that are looked through for a name of several of them
MAX_PARTICLE = 2  # syllables
MAX_HEARD = 4  # words that may be one name by ear
MIN_PART = 4  # letters of a word that is written together with another one
MIN_WEAPON = 2  # letters of a weapon that is written together with its finish (`ak`)
EXTERIOR_CODE = 2  # letters (`fn`)


def other_letters(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """The text in the letters that were meant, for each alphabet that may have been taken for another.

    A text is typed on another layout as a whole, or its unknown words are.
    """
    small = text.lower()
    spellings = [_written(small, vocabulary.look_alikes)]
    for layout in vocabulary.keyboard:
        to_latin, from_latin = dict(zip(layout, KEYS, strict=False)), dict(zip(KEYS, layout, strict=False))
        typed = letters_typed(small) if _JAMO.match(layout) else small
        spellings += [_written(typed, to_latin), syllables_of(_written(small, from_latin))]
        spellings += [_NOT_BLANK.sub(partial(_unknown_typed, from_latin, vocabulary), small)]
    yield from dict.fromkeys(spelling for spelling in spellings if spelling != small)


def _unknown_typed(letters: Mapping[str, str], vocabulary: Vocabulary, match: re.Match[str]) -> str:
    word = match.group()
    is_known = vocabulary.is_known(letters_of([word])) or not word.isalpha()
    return word if is_known else syllables_of(_written(word, letters))


def in_english(text: str, vocabulary: Vocabulary, *, of_names: bool = False) -> str:
    """The text with words of names in the place of unknown ones: those that they translate, or that they sound like.

    `of_names`: words that are known as names of something else are translated, too (`Massacre`: Slaughter).
    """
    text = _HIRAGANA.sub(lambda run: _known_katakana(run.group(), vocabulary), text)
    if of_names:
        text = _SYLLABIC.sub(lambda run: _name_heard(run.group(), vocabulary), text)
    words, gaps = segmented(*words_and_gaps(text), vocabulary)
    letters = [letters_of([word]) for word in words]
    untranslated = frozenset() if of_names else vocabulary.words_of_finishes
    unknown = {
        position
        for at, length, entry in vocabulary.longest_spellings(letters)
        if (letters[at] not in untranslated if entry is None else of_names and entry.is_name)
        for position in range(at, at + length)
    }
    spoken = {at for at in unknown if letters[at] not in vocabulary.ignored}
    english, at = gaps[:1], 0
    while at < len(words):
        run, heard = (
            next((end for end in range(MAX_HEARD) if at + end not in of), MAX_HEARD) for of in (unknown, spoken)
        )
        length, name = _name_at(words[at : at + run], letters[at : at + run], heard, vocabulary)
        english += [f" {name} " if name else words[at], gaps[at + length]]
        at += length
    return "".join(english)


def _known_katakana(run: str, vocabulary: Vocabulary) -> str:
    """Hiragana, a name at its beginning in the katakana in which it is known (`すたとら`)."""
    for length in range(len(run), MIN_SYLLABLES - 1, -1):
        katakana = run[:length].translate(_TO_KATAKANA)
        if _known_piece(katakana, vocabulary):
            return f" {katakana} {run[length:]}"
    return run


def _name_at(words: list[str], letters: list[str], heard: int, vocabulary: Vocabulary) -> tuple[int, str]:
    """How many of the words are written in place of what name or words of names; none: a word, empty.

    Only the first ones, so many as are `heard`, may be one name by ear: a filler stands for itself, or in a phrase.
    """
    if not letters:
        return 1, ""
    length, entry = vocabulary.lexicon.spelling_at(letters, 0)
    if entry is not None and (length > 1 or (heard and not _is_lengthened(letters[0], entry, vocabulary))):
        return length, _either(entry) + _joining_end(words[length - 1], vocabulary)
    parted = (_parted(letters[0], vocabulary) or _unjoined(letters[0], vocabulary)) if heard else ""
    if parted or not heard or letters[0].isascii():
        return 1, parted
    if _SYLLABLES.fullmatch(words[0]):
        return _in_syllables(words[:heard], vocabulary)
    names = ((length, vocabulary.by_sound.name_of("".join(letters[:length]))) for length in range(heard, 0, -1))
    return next(((length, name) for length, name in names if name), (1, ""))


def _is_lengthened(word: str, entry: Entry, vocabulary: Vocabulary) -> bool:
    """Whether what translates a filler is a word with more letters, and so another one: Michu is not `mich` (me)."""
    is_filler = word not in vocabulary.lexicon.entries and _either(entry) in vocabulary.ignored
    return is_filler and vocabulary.lexicon.entries.get(word[:-1]) is entry


def _name_heard(run: str, vocabulary: Vocabulary) -> str:
    """Words in syllables, the name of several words that some of them sound like together instead of them."""
    words = run.split()
    if len(words) > MAX_SYLLABIC_WORDS:
        return run
    for length in range(min(len(words), MAX_HEARD), 0, -1):
        for start in range(len(words) - length + 1):
            name = _heard("".join(words[start : start + length]), vocabulary)
            if " " in name:
                return " ".join(["", *words[:start], name, *words[start + length :], ""])
    return run


def _joining_end(word: str, vocabulary: Vocabulary) -> str:
    """The ending of a word of Hangul that joins it with the next one (`오토트로닉이나`); none: empty."""
    for length in range(MAX_PARTICLE, 0, -1) if _SYLLABLES.fullmatch(word) else ():
        entry = vocabulary.entries.get(letters_of([word[-length:]]))
        is_joining = entry is not None and not entry.meanings and entry.role in (Role.ALTERNATIVE, Role.CONJUNCTION)
        if is_joining and letters_of([word[:-length]]) in vocabulary.lexicon.entries:
            return f" {word[-length:]}"
    return ""


def _in_syllables(words: list[str], vocabulary: Vocabulary) -> tuple[int, str]:
    """The name that words in kana or Hangul sound like together, else the parts of the first one; none: empty."""
    run = list(takewhile(_SYLLABLES.fullmatch, words))
    for length in range(len(run), 0, -1):
        if name := _heard("".join(run[:length]), vocabulary):
            return length, name
    return 1, _joined(words[0], vocabulary, MAX_JOINED_PARTS)


def _heard(word: str, vocabulary: Vocabulary) -> str:
    """The name that a word sounds like; none: empty. A short one is no name, nor is one beside amounts (`フロート`)."""
    is_name = len(word) >= MIN_SYLLABLES and not vocabulary.amount_words.has(word)
    return vocabulary.loanwords.name_of(word) if is_name else ""


def _joined(word: str, vocabulary: Vocabulary, parts: int) -> str:
    """A word that is written together of known ones and names by ear, apart, the first as long as it can be."""
    if parts < 2 or len(word) > MAX_JOINED_LETTERS:
        return ""
    for piece, next_piece in (
        (_known_piece, _last_piece),
        (_known_piece, _heard),
        (_heard, _last_piece),
        (_heard, _heard),
    ):
        for cut in range(len(word) - 1, 0, -1):
            first = piece(word[:cut], vocabulary)
            last = first and (next_piece(word[cut:], vocabulary) or _joined(word[cut:], vocabulary, parts - 1))
            if last:
                return f"{first} {last}"
    return ""


def _last_piece(part: str, vocabulary: Vocabulary) -> str:
    """A known part, or one that says nothing of an item or how others are meant (`이나`)."""
    letters = letters_of([part])
    says_other = letters in vocabulary.entries or letters in vocabulary.ignored
    return _known_piece(part, vocabulary) or (part if says_other else "")


def _known_piece(part: str, vocabulary: Vocabulary) -> str:
    """A part of a word as it is where the vocabulary knows it, else in English; unknown: empty."""
    letters = letters_of([part])
    entry = vocabulary.entries.get(letters)
    return part if entry is not None and entry.meanings else _part(letters, vocabulary)


def _parted(word: str, vocabulary: Vocabulary) -> str:
    """A word that is written together of several; none: empty."""
    if word in vocabulary.words_of_finishes:
        return ""  # `nightmare` is no night and no sea (Italian)
    parts = vocabulary.lexicon.segments(word)
    names = [_part(part, vocabulary) for part in parts]
    if len(parts) > 1 and (all(names) or not _KATAKANA.fullmatch(word)):
        return " ".join(name or part for name, part in zip(names, parts, strict=True))
    for cut in range(len(word) - MIN_PART, MIN_PART - 1, -1):  # `Feuerschlange`
        first, last = _part(word[:cut], vocabulary), _part(word[cut:], vocabulary)
        if first and last:
            return f"{first} {last}"
    return ""


def _unjoined(word: str, vocabulary: Vocabulary) -> str:
    """A weapon, its finish and perhaps an exterior that are written as one word, apart: `awpatherisfn`; else empty.

    So are a finish and its exterior or phase: `vulcanmw`, `dopplerphase2`.
    """
    has_code = is_value_of("exterior", word[-EXTERIOR_CODE:], vocabulary)
    ends = [len(word), *([len(word) - EXTERIOR_CODE] if has_code else [])]
    for end in ends:
        for cut in range(MIN_WEAPON, end - MIN_WEAPON + 1):
            first, last = word[:cut], word[cut:end]
            if any(
                is_value_of("weapon", weapon, vocabulary) and len(finish) >= MIN_PART and _is_finish(finish, vocabulary)
                for weapon, finish in ((first, last), (last, first))
            ):
                return f"{first} {last} {word[end:]}"
    for cut in range(MIN_PART, len(word) - 1):
        finish, detail = word[:cut], word[cut:]
        is_detail = any(is_value_of(field, detail, vocabulary) for field in ("exterior", "phase"))
        if is_detail and _is_finish(finish, vocabulary):
            return f"{finish} {detail}"
    return ""


def _is_finish(letters: str, vocabulary: Vocabulary) -> bool:
    return letters in vocabulary.finishes or (not letters.isascii() and bool(vocabulary.by_sound.name_of(letters)))


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
