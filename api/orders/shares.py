"""Shares: the attempts under way in, who may have one more out, so that nobody's slow receiver holds the others."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from store.deliveries import Crowded, DeliveryWork

AT_ONCE: Final = 100
"""Attempts that one dispatcher has under way."""
OF_A_RECEIVER: Final = 10
OF_A_TOKEN: Final = 50
OF_A_SLOW_RECEIVER: Final = 1
"""Of a receiver whose last attempt ran into the deadline."""


class Shares:
    """Counts the attempts under way by receiver and by token; those that are only being noted burden neither."""

    def __init__(self, sending: Iterable[DeliveryWork], slow: Iterable[str], noting: int = 0) -> None:
        works = list(sending)
        self._slow = frozenset(slow)
        self._receivers = Counter(work.receiver for work in works)
        self._tokens = Counter(work.order.token_id for work in works)
        self.left = AT_ONCE - len(works) - noting

    def crowded(self) -> Crowded:
        """Who has a full share."""
        return Crowded(
            receivers=[name for name in self._receivers if not self._room_of(name)],
            tokens=[token for token, count in self._tokens.items() if count >= OF_A_TOKEN],
        )

    def admit(self, receiver: str, token_id: str) -> bool:
        """Takes one more attempt in, if there is room for it."""
        if self.left <= 0 or not self._room_of(receiver) or self._tokens[token_id] >= OF_A_TOKEN:
            return False
        self.left -= 1
        self._receivers[receiver] += 1
        self._tokens[token_id] += 1
        return True

    def _room_of(self, receiver: str) -> bool:
        most = OF_A_SLOW_RECEIVER if receiver in self._slow else OF_A_RECEIVER
        return self._receivers[receiver] < most
