"""How other languages write the words beside an amount. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mappings.vocabulary.words import words_of

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts whose words follow without blanks
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_BOUNDS = ("under", "over", "max", "min")


def amount_pattern(words: Mapping[str, str]) -> re.Pattern[str]:
    """What finds these words before and behind an amount, the longest that fits.

    A bound in a script without blanks may follow the name at once (`蝴蝶刀低于500`).
    """
    spelt = _any_of(words)
    signs = "|".join(re.escape(each) for each in words if not words_of(each))
    unspaced = [each for each, word in words.items() if word in _BOUNDS and len(each) > 1 and _may_follow(each)]
    start = rf"(?:(?<![^\W\d_])|(?={_any_of(unspaced)}))" if unspaced else r"(?<![^\W\d_])"
    before = rf"{start}(?P<before>{spelt})\s*(?=(?:R?\$|[€£]|{signs})?\s*\d)"
    return re.compile(rf"{before}|(?:(?<=\d)|(?<=\dk))\s*(?P<after>{spelt})(?![a-z])", re.IGNORECASE)


def _may_follow(spelling: str) -> bool:
    return bool(UNSPACED.match(spelling)) and not _HANGUL.match(spelling)


def _any_of(spellings: Iterable[str]) -> str:
    """A pattern of all spellings by their common beginnings, so that few are tried at each place."""
    tree: dict[str, Any] = {}
    for spelling in spellings:
        node = tree
        for letter in spelling:
            node = node.setdefault(letter, {})
        node[""] = _end_of(spelling)
    return _branches(tree)


def _branches(node: dict[str, Any]) -> str:
    longer = [
        (r"\s+" if letter == " " else re.escape(letter)) + _branches(rest) for letter, rest in node.items() if letter
    ]
    return "(?:" + "|".join([*longer, *([node[""]] if "" in node else ())]) + ")"


def _end_of(spelling: str) -> str:
    """What ends the spelling: its script parts words by blanks, or may go on at once.

    Korean words have blanks between them, so behind one a single letter that goes on is of another (`553 불도저`).
    """
    if not UNSPACED.search(spelling):
        return r"(?![^\W\d_])"
    is_letter = len(spelling) == 1 and _HANGUL.search(spelling)
    return rf"(?!(?<=\s{spelling}){_HANGUL.pattern})" if is_letter else ""
