"""How other languages write the words beside an amount. Pure."""

import re
from collections.abc import Iterable

from mappings.vocabulary.words import words_of

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts whose words follow without blanks


def amount_pattern(spellings: Iterable[str]) -> re.Pattern[str]:
    """What finds these words before and behind an amount, the first that fits."""
    known = list(spellings)
    spelt = "|".join(map(_as_whole_word, known))
    signs = "|".join(re.escape(each) for each in known if not words_of(each))
    before = rf"(?<![^\W\d_])(?P<before>{spelt})\s*(?=(?:R?\$|[€£]|{signs})?\s*\d)"
    return re.compile(rf"{before}|(?:(?<=\d)|(?<=\dk))\s*(?P<after>{spelt})(?![a-z])", re.IGNORECASE)


def _as_whole_word(spelling: str) -> str:
    """A pattern of the spelling, as a whole word where its script parts words by blanks."""
    ending = "" if UNSPACED.search(spelling) else r"(?![^\W\d_])"
    return re.escape(spelling).replace("\\ ", r"\s+") + ending
