"""Names of one or several words that belong together, however their letters are parted. Pure."""

from collections.abc import Iterable, Sequence

from mappings.vocabulary.words import letters_of, words_of

COMPARED_ENDS = 3  # letters at the ends of names, by which nearly all texts are seen not to have one


class Phrases:
    """Names by their letters, each with the most words that it may be typed as."""

    def __init__(self, names: Iterable[str]) -> None:
        self._max_words: dict[str, int] = {}
        for name in names:
            words = words_of(name)
            letters = letters_of(words)
            self._max_words[letters] = max(len(words), self._max_words.get(letters, 0))
        self.longest = max(self._max_words.values(), default=0)
        self._compared = min([COMPARED_ENDS, *map(len, self._max_words)])
        self._beginnings = {letters[: self._compared] for letters in self._max_words}
        self._ends = {letters[-self._compared :] for letters in self._max_words}

    def __contains__(self, letters: object) -> bool:
        return letters in self._max_words

    def length_at(self, letters: Sequence[str], at: int) -> int:
        """How many words the longest name has that begins there; 0: none."""
        if "".join(letters[at : at + self._compared])[: self._compared] not in self._beginnings:
            return 0
        lengths = range(min(self.longest, len(letters) - at), 0, -1)
        return next((length for length in lengths if self._is_one(letters[at : at + length])), 0)

    def last_length(self, letters: Sequence[str]) -> int:
        """How many words the longest name of several has that the words end with; 0: none."""
        if "".join(letters[-self._compared :])[-self._compared :] not in self._ends:
            return 0
        lengths = range(min(self.longest, len(letters)), 1, -1)
        return next((length for length in lengths if self._is_one(letters[-length:])), 0)

    def _is_one(self, letters: Sequence[str]) -> bool:
        return len(letters) <= self._max_words.get("".join(letters), 0)


def beginnings_of(names: Iterable[str]) -> frozenset[str]:
    """The letters with which names begin, longer than their first word."""
    parted = [tuple(map(letters_of, zip(words_of(name), strict=True))) for name in names]
    lengths = [(len(words[0]), "".join(words)) for words in parted]
    return frozenset(name[:length] for first, name in lengths for length in range(first + 1, len(name)))
