"""The most frequent values of what is suggested: which of them begin with a text is known without the index. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Final

from api.search.parsing.prefix import PrefixQuery
from api.search.suggest.requests import Suggestion, rank
from mappings.folding import fold

_LAST: Final = chr(0x10FFFF)

Counts = Sequence[tuple[str, int]]
"""Values of a kind and how many items have each, the most frequent first."""


class FrequentValues:
    """All values that more items have than any that was not counted, as of one moment."""

    def __init__(self, counts: Mapping[str, Counts], uncounted: int) -> None:
        """The counts of each kind; no value that was not counted has more items than `uncounted`."""
        self.uncounted = uncounted
        values = [
            Suggestion(text, kind, count, begins=False)
            for kind, each in counts.items()
            for text, count in each
            if count > uncounted
        ]
        values.sort(key=rank)
        self._values = values
        self._folded = sorted((fold(value.text), place) for place, value in enumerate(values))

    def beginning(self, typed: PrefixQuery, limit: int) -> list[Suggestion]:
        """The most frequent that begin with the text."""
        start = bisect_left(self._folded, (typed.folded,))
        end = bisect_right(self._folded, (typed.folded + _LAST,))
        places = nsmallest(limit, (place for _, place in self._folded[start:end]))
        return [self._values[place] for place in places]
