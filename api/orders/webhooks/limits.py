"""Shares: the attempts under way in, who may have one more out, so that nobody's slow receiver holds the others."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from api.orders.webhooks.sender import Sent
from store.outbox.deliveries import Crowded, DeliveryWork

AT_ONCE: Final = 200
"""Attempts that one dispatcher has under way."""
OF_A_TOKEN: Final = 100
OF_A_RECEIVER: Final = 10
OF_A_PROMPT_RECEIVER: Final = 40
"""Of a receiver that took the last callback soon. Ten a round were less than one process can place orders."""
OF_A_SLOW_RECEIVER: Final = 1
"""Of a receiver whose last attempt ran into the deadline."""
PROMPT_MILLISECONDS: Final = 2000
MOST_KNOWN: Final = 1000


class Paces:
    """How many attempts at once each receiver may have, by how its last one ended; the last thousand are known."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}

    def learn(self, receiver: str, sent: Sent) -> None:
        """An attempt has ended."""
        self._most.pop(receiver, None)
        if sent.outcome == "timeout":
            self._most[receiver] = OF_A_SLOW_RECEIVER
        elif sent.outcome == "delivered" and sent.milliseconds <= PROMPT_MILLISECONDS:
            self._most[receiver] = OF_A_PROMPT_RECEIVER
        if len(self._most) > MOST_KNOWN:
            self._most.pop(next(iter(self._most)))

    def most(self, receiver: str) -> int:
        """Attempts that this receiver may have under way."""
        return self._most.get(receiver, OF_A_RECEIVER)


class Shares:
    """Counts the attempts under way by receiver and by token; those that are only being noted burden neither."""

    def __init__(self, sending: Iterable[DeliveryWork], paces: Paces, noting: int = 0) -> None:
        works = list(sending)
        self._paces = paces
        self._receivers = Counter(work.receiver for work in works)
        self._tokens = Counter(work.order.token_id for work in works)
        self.left = AT_ONCE - len(works) - noting

    def crowded(self) -> Crowded:
        """Who has a full share."""
        return Crowded(
            receivers=[name for name in self._receivers if not self._room_of(name)],
            tokens=[token for token, count in self._tokens.items() if count >= OF_A_TOKEN],
        )

    def full(self) -> bool:
        """Whether anybody has a full share, so that something due may have to wait for room."""
        crowded = self.crowded()
        return self.left <= 0 or bool(crowded.receivers or crowded.tokens)

    def admit(self, receiver: str, token_id: str) -> bool:
        """Takes one more attempt in, if there is room for it."""
        if self.left <= 0 or not self._room_of(receiver) or self._tokens[token_id] >= OF_A_TOKEN:
            return False
        self.left -= 1
        self._receivers[receiver] += 1
        self._tokens[token_id] += 1
        return True

    def _room_of(self, receiver: str) -> bool:
        return self._receivers[receiver] < self._paces.most(receiver)
