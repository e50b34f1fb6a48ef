"""Hangul as its keys write it: syllables of letters, letters of syllables. Pure.

A syllable's code is its first consonant, vowel and last consonant counted up (Unicode, chapter 3.12).
"""

import re

_SYLLABLES = 0xAC00
_FIRST = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_LAST = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"  # the first is none
# letters that are typed as two
_TYPED_VOWELS = {"ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ"}
_TYPED_LAST = {
    **{"ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㅄ": "ㅂㅅ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ"},
    **{"ㄾ": "ㄹㅌ", "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ"},
}
_TYPED = {**_TYPED_VOWELS, **_TYPED_LAST}
_LETTERS = {typed: letter for letter, typed in _TYPED.items()}
_KEYS = str.maketrans({**_TYPED, **dict(zip("ㄲㄸㅃㅆㅉㅒㅖ", "ㄱㄷㅂㅅㅈㅐㅔ", strict=True))})
_SYLLABLE = re.compile(
    rf"([{_FIRST}])({'|'.join(_TYPED_VOWELS.values())}|[{_VOWELS}])"
    rf"(?:({'|'.join(_TYPED_LAST.values())}|[{_LAST.strip()}])(?![{_VOWELS}]))?"
)
_COMPOSED = re.compile(r"[\uac00-\ud7a3]")


def syllables_of(letters: str) -> str:
    """Letters as they are typed one after the other, in syllables; what forms none stays."""
    return _SYLLABLE.sub(_syllable, letters)


def letters_typed(text: str) -> str:
    """Syllables as the letters on the keys that write them, those with shift as those without."""
    return _COMPOSED.sub(_letters, text).translate(_KEYS)


def _syllable(match: re.Match[str]) -> str:
    first, vowel, last = (_LETTERS.get(letter, letter) for letter in (match[1], match[2], match[3] or " "))
    code = (_FIRST.index(first) * len(_VOWELS) + _VOWELS.index(vowel)) * len(_LAST) + _LAST.index(last)
    return chr(_SYLLABLES + code)


def _letters(match: re.Match[str]) -> str:
    rest, last = divmod(ord(match.group()) - _SYLLABLES, len(_LAST))
    first, vowel = divmod(rest, len(_VOWELS))
    return _FIRST[first] + _VOWELS[vowel] + _LAST[last].strip()
