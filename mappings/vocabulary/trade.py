"""The words of trade posts: who sells, buys, seeks or exchanges, and what is paid with. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mappings.vocabulary.words import letters_of, words_of


class TradeWords(NamedTuple):
    """What words of a trade post say of the items beside them.

    `selling` and `buying` begin an offer with its price. What is `seeking` says comes behind it; in an exchange
    (`exchanging`: `swap`, `have`) it comes behind one of `returns` (`for`).
    """

    selling: tuple[str, ...]
    buying: tuple[str, ...]
    seeking: tuple[str, ...]
    exchanging: tuple[str, ...]
    returns: tuple[str, ...]
    payments: tuple[str, ...]


class TradeLetters:
    """The words of trade posts by their letters."""

    def __init__(self, words: TradeWords) -> None:
        self.wanting: Mapping[str, bool] = dict.fromkeys(spelt(words.selling), False) | dict.fromkeys(
            spelt(words.buying), True
        )
        self.seeking = spelt(words.seeking)
        self.exchanging = spelt(words.exchanging)
        self.returns = spelt(words.returns)
        self.marks = frozenset(self.wanting) | self.seeking | self.exchanging
        self._payments = spelt(words.payments)

    def is_payment(self, text: str, ignored: frozenset[str]) -> bool:
        """Whether a text says nothing but what is paid with; `ignored` words say nothing."""
        letters = (letters_of([word]) for word in words_of(text) if not word.isnumeric())
        return all(each in self._payments or each in ignored for each in letters)


def spelt(spellings: Iterable[str]) -> frozenset[str]:
    """The letters of each spelling."""
    return frozenset(letters_of(words_of(spelling)) for spelling in spellings)
