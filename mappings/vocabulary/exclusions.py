"""Words that say what is not wanted: written together with it (`nonstattrak`, `stickersız`), or beside it. Pure."""

from collections.abc import Mapping, Sequence

from mappings.vocabulary.entries import Entry, Role

MAX_JOINED = 7  # letters of what is written together with a word that it excludes
MIN_JOINED = 2


class JoinedExclusions:
    """Words that a word of exclusion, or an ending that says the same, is written together with."""

    def __init__(
        self, entries: Mapping[str, Entry], words: frozenset[str], endings: frozenset[str], attached: frozenset[str]
    ) -> None:
        self._entries = entries
        self._words = words
        self.endings = endings
        self._attached = attached

    def excluded_by(self, letters: str) -> Entry | None:
        """The quality, or the `attached` type, that a word which is no spelling itself excludes; else None."""
        if letters in self._entries:
            return None
        for length in range(MIN_JOINED, min(MAX_JOINED, len(letters) - 2) + 1):
            for is_excluding, rest in (
                (letters[:length] in self._words, letters[length:]),
                (letters[-length:] in self.endings, letters[:-length]),
            ):
                entry = self._entries.get(rest) if is_excluding else None
                if entry is not None and self._is_excludable(entry):
                    return entry
        return None

    def _is_excludable(self, entry: Entry) -> bool:
        filters = [each for meaning in entry.meanings for each in meaning.filters]
        return any(
            name == "quality" or (name == "type" and self._attached.issuperset(values)) for name, values in filters
        )


def wanted(entries: Sequence[Entry | None]) -> list[Entry]:
    """The known entries of a text that say what is wanted: none beside a word of exclusion."""
    entries_wanted: list[Entry] = []
    is_excluded = False
    for entry in entries:
        if entry is None:
            continue
        role = Role.VALUE if entry.meanings else entry.role
        if role is Role.EXCLUSION_AFTER:
            entries_wanted[-1:] = []
        elif role is not Role.EXCLUSION and not is_excluded:
            entries_wanted.append(entry)
        is_excluded = role is Role.EXCLUSION
    return entries_wanted
