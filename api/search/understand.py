"""Understanding of the text: what a buyer typed in, the words and marks that an item must have out.

Words are asked for as they were typed and joined with their neighbours, because the index holds every name's words
and the joins of two and three of them: `ak 47`, `ak-47` and `ak47` meet at `AK-47`, `m4 a1s` meets `M4A1-S`.
"""

import re
import unicodedata
from dataclasses import dataclass

LONGEST_JOIN = 3  # words, as `max_shingle_size` of the filter `joined` in gear.json

_WORD = re.compile(r"[^\W_]+")
_DROPPED_MARKS = str.maketrans("", "", "★™")


@dataclass(frozen=True)
class Understood:
    """Each group of `words` must be met by one of its spellings; `marks` are asked only where there are no words."""

    words: tuple[tuple[str, ...], ...]
    marks: str

    @property
    def everything(self) -> bool:
        """Whether the text asks for nothing in particular."""
        return not self.words and not self.marks


def understand(text: str) -> Understood:
    """Reads a text of any characters; control characters count as blanks."""
    visible = "".join(" " if unicodedata.category(one) == "Cc" else one for one in text)
    composed = unicodedata.normalize("NFC", visible)
    bare = "".join(one for one in composed if unicodedata.category(one) != "Mn").translate(_DROPPED_MARKS)
    words = _WORD.findall(bare)
    if not words:
        return Understood((), visible.strip())
    return Understood(tuple(_spellings(words, place) for place in range(len(words))), "")


def _spellings(words: list[str], place: int) -> tuple[str, ...]:
    """The word at this place alone and in every join of neighbours that holds it, without repeats."""
    found = [words[place]]
    for length in range(2, LONGEST_JOIN + 1):
        starts = range(max(0, place - length + 1), min(place, len(words) - length) + 1)
        found += ["".join(words[start : start + length]) for start in starts]
    return tuple(dict.fromkeys(found))
