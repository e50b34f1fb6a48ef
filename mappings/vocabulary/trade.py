"""The words of trade posts: who sells, buys, seeks or exchanges, and what is paid with. Pure."""

from collections.abc import Mapping

from mappings.vocabulary.schema import VocabularyFile
from mappings.vocabulary.words import letters_of, words_of


class TradeLetters:
    """What words of a trade post say of the items beside them, by their letters.

    `selling` and `buying` begin an offer with its price. What is `seeking` says comes behind it; in an exchange
    (`exchanging`: `swap`, `have`) it comes behind one of `returns` (`for`). So it does behind a weapon of one's
    `own` (`my`).
    """

    def __init__(self, words: VocabularyFile) -> None:
        self.wanting: Mapping[str, bool] = dict.fromkeys(words.selling, False) | dict.fromkeys(words.buying, True)
        self.seeking, self.exchanging, self.returns = words.seeking, words.exchanging, words.returns
        self.own = words.own
        self.marks = frozenset(self.wanting) | self.seeking | self.exchanging
        self._payments = words.payments

    def is_payment(self, text: str, ignored: frozenset[str]) -> bool:
        """Whether a text says nothing but what is paid with; `ignored` words say nothing."""
        letters = (letters_of([word]) for word in words_of(text) if not word.isnumeric())
        return all(each in self._payments or each in ignored for each in letters)
