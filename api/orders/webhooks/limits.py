"""Concurrency limits of callbacks: a receiver's own, a token's and the dispatcher's, so that no slow receiver delays
the others.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from api.orders.webhooks.sender import Sent
from store.outbox.deliveries import Saturated
from store.records import DeliveryWork

MAX_CONCURRENCY: Final = 200
"""Attempts that one dispatcher has under way."""
TOKEN_LIMIT: Final = 100
RECEIVER_LIMIT: Final = 10
FAST_RECEIVER_LIMIT: Final = 40
"""Of a receiver that took the last callback fast. Ten a round were fewer than one process can place orders."""
SLOW_RECEIVER_LIMIT: Final = 1
"""Of a receiver whose last attempt timed out."""
FAST_MILLISECONDS: Final = 2000
MAX_RECEIVERS: Final = 1000


class ReceiverLimits:
    """The limit of each receiver by its last attempt; remembers the last thousand receivers."""

    def __init__(self) -> None:
        self._limits: dict[str, int] = {}

    def update(self, receiver: str, sent: Sent) -> None:
        """Sets the limit by how an attempt ended."""
        self._limits.pop(receiver, None)
        if sent.outcome == "timeout":
            self._limits[receiver] = SLOW_RECEIVER_LIMIT
        elif sent.outcome == "delivered" and sent.milliseconds <= FAST_MILLISECONDS:
            self._limits[receiver] = FAST_RECEIVER_LIMIT
        if len(self._limits) > MAX_RECEIVERS:
            self._limits.pop(next(iter(self._limits)))

    def limit_of(self, receiver: str) -> int:
        """Attempts that this receiver may have under way."""
        return self._limits.get(receiver, RECEIVER_LIMIT)


class FreeCapacity:
    """The attempts that may still start, beside those under way: `sending` counts for its receivers and tokens,
    `recording` for the dispatcher alone.
    """

    def __init__(self, sending: Iterable[DeliveryWork], limits: ReceiverLimits, recording: int = 0) -> None:
        works = list(sending)
        self._limits = limits
        self._receivers = Counter(work.receiver for work in works)
        self._tokens = Counter(work.order.token_id for work in works)
        self.left = MAX_CONCURRENCY - len(works) - recording

    def saturated(self) -> Saturated:
        """The receivers and tokens at their limit."""
        return Saturated(
            receivers=[receiver for receiver in self._receivers if self._is_saturated(receiver)],
            tokens=[token for token, count in self._tokens.items() if count >= TOKEN_LIMIT],
        )

    def is_short(self) -> bool:
        """Whether any limit is reached, so that something due may have to wait."""
        saturated = self.saturated()
        return self.left <= 0 or bool(saturated.receivers or saturated.tokens)

    def admit(self, receiver: str, token_id: str) -> bool:
        """Counts one more attempt, if the limits allow it."""
        if self.left <= 0 or self._is_saturated(receiver) or self._tokens[token_id] >= TOKEN_LIMIT:
            return False
        self.left -= 1
        self._receivers[receiver] += 1
        self._tokens[token_id] += 1
        return True

    def _is_saturated(self, receiver: str) -> bool:
        return self._receivers[receiver] >= self._limits.limit_of(receiver)
