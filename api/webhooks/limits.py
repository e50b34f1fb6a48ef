"""Concurrency limits of callbacks: a receiver's own, a token's share and the dispatcher's, so that nobody who is slow
delays the others.

A token may have fewer attempts under way than there is room left: alone it gets half of the capacity, and n of them
leave 1/(n + 1) of it to whoever comes next ("dynamic threshold": A. Choudhury, E. Hahne, Dynamic Queue Length
Thresholds for Shared-Memory Packet Switches, 1998). Sandbox tokens share a small capacity of their own.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from cachetools import FIFOCache

from api.webhooks.sender import SendResult
from store.outbox.deliveries import Saturated
from store.records import DeliveryWork

MAX_CONCURRENCY: Final = 200
"""Attempts that one dispatcher has under way."""
SANDBOX_CONCURRENCY: Final = 20
"""Of them, those of all sandbox tokens."""
RECEIVER_LIMIT: Final = 10
FAST_RECEIVER_LIMIT: Final = 40
"""Of a receiver that took the last callback fast. Ten a round were fewer than one process can place orders."""
SLOW_RECEIVER_LIMIT: Final = 1
"""Of a receiver whose last attempt timed out."""
FAST_MILLISECONDS: Final = 2000
MAX_RECEIVERS: Final = 1000
SLOW_TOKEN_TIMEOUTS: Final = 20
"""A token whose last attempts, so many of them, all timed out is slow."""
SLOW_TOKEN_WEIGHT: Final = 0.1
"""Of its share, compared with that of others."""


class ReceiverLimits:
    """The limit of each receiver by its last attempt; remembers the last thousand receivers."""

    def __init__(self) -> None:
        self._limits: FIFOCache[str, int] = FIFOCache(MAX_RECEIVERS)

    def update(self, receiver: str, sent: SendResult) -> None:
        self._limits.pop(receiver, None)
        if sent.outcome == "timeout":
            self._limits[receiver] = SLOW_RECEIVER_LIMIT
        elif sent.outcome == "delivered" and sent.milliseconds <= FAST_MILLISECONDS:
            self._limits[receiver] = FAST_RECEIVER_LIMIT

    def limit_of(self, receiver: str) -> int:
        """Attempts that this receiver may have under way."""
        return self._limits.get(receiver, RECEIVER_LIMIT)


class TokenWeights:
    """The weight of each token's share by its last attempts."""

    def __init__(self) -> None:
        self._timeouts: Counter[str] = Counter()

    def update(self, token_id: str, sent: SendResult) -> None:
        """Counts the token's time-outs in a row."""
        if sent.outcome == "timeout":
            self._timeouts[token_id] += 1
        else:
            del self._timeouts[token_id]

    def weight_of(self, token_id: str) -> float:
        """1, or less for a slow token."""
        return SLOW_TOKEN_WEIGHT if self._timeouts[token_id] >= SLOW_TOKEN_TIMEOUTS else 1.0


class FreeCapacity:
    """The attempts that may still start, beside those under way: `sending` counts for its receivers and tokens,
    `recording` for the dispatcher alone.
    """

    def __init__(
        self,
        sending: Iterable[DeliveryWork] = (),
        receivers: ReceiverLimits | None = None,
        tokens: TokenWeights | None = None,
        *,
        recording: Iterable[DeliveryWork] = (),
    ) -> None:
        works = list(sending)
        self._limits = receivers or ReceiverLimits()
        self._weights = tokens or TokenWeights()
        self._receivers = Counter(work.receiver for work in works)
        self._tokens = Counter((work.subject.token_id, work.subject.sandbox) for work in works)
        self._left = {False: MAX_CONCURRENCY - SANDBOX_CONCURRENCY, True: SANDBOX_CONCURRENCY}
        for work in (*works, *recording):
            self._left[work.subject.sandbox] -= 1

    @property
    def left(self) -> int:
        return sum(max(0, left) for left in self._left.values())

    def saturated(self) -> Saturated:
        """The receivers at their limit, the tokens that have their share, and whether real or sandbox orders have no
        capacity left.
        """
        return Saturated(
            receivers=[receiver for receiver in self._receivers if self._is_saturated(receiver)],
            tokens=[token_id for token_id, sandbox in self._tokens if self._has_its_share(token_id, sandbox)],
            sandbox=[sandbox for sandbox, left in self._left.items() if left <= 0],
        )

    def admit(self, receiver: str, token_id: str, *, sandbox: bool) -> bool:
        if self._left[sandbox] <= 0 or self._is_saturated(receiver) or self._has_its_share(token_id, sandbox):
            return False
        self._left[sandbox] -= 1
        self._receivers[receiver] += 1
        self._tokens[token_id, sandbox] += 1
        return True

    def _is_saturated(self, receiver: str) -> bool:
        return self._receivers[receiver] >= self._limits.limit_of(receiver)

    def _has_its_share(self, token_id: str, sandbox: bool) -> bool:
        share = max(1.0, self._left[sandbox] * self._weights.weight_of(token_id))
        return self._tokens[token_id, sandbox] >= share
