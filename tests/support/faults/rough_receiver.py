"""A receiver of callbacks that behaves badly by a seed; it records what it took and what did not verify."""

import asyncio
from random import Random

from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.services.receiver import Behaviour, Received, resets, responses

FATES = ("takes", "fails", "resets", "hangs")
"""Answers 200, answers 500, resets the connection, never answers."""
HANG_SECONDS = 20
"""Longer than an attempt may take."""


class Rough:
    """The behaviour of a tests.support.services.receiver.Receiver, until it is calmed: then every callback is taken.

    `arrived` has the webhook id of each callback, its event, and whether it was answered with 200.
    """

    def __init__(self, seed: str, secret: str, weights: tuple[int, ...]) -> None:
        self.arrived: list[tuple[str, str, bool]] = []
        self.unverified: list[str] = []
        self._chance = Random(seed)
        self._secret = secret
        self._weights = weights
        self._calm = False

    @property
    def behaviour(self) -> Behaviour:
        """What a receiver is made with."""
        return self._behave

    def calm(self) -> None:
        """From now on all is well, and what hangs is let go without an answer."""
        self._calm = True

    async def _behave(self, received: Received, writer: asyncio.StreamWriter) -> None:
        identity = received.headers["webhook-id"]
        try:
            Webhook(self._secret).verify(received.body, received.headers)
        except WebhookVerificationError:
            self.unverified.append(identity)
        [fate] = self._chance.choices(FATES, self._weights)
        taken = self._calm or fate == "takes"
        self.arrived.append((identity, received.event, taken))
        if taken:
            await responses(200)(received, writer)
        elif fate == "fails":
            await responses(500)(received, writer)
        elif fate == "hangs":
            for _ in range(HANG_SECONDS * 20):
                if not self._calm:
                    await asyncio.sleep(0.05)
        else:
            await resets(received, writer)


_NUMBERS = st.one_of(st.integers(), st.integers(min_value=10**18), st.floats()).map(str)
_DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Mon", "Sun", "", "Xyz"]),
    st.one_of(st.integers(-1, 40), st.integers()),
    st.sampled_from(["Jan", "Feb", "Dec", "13", ""]),
    st.one_of(st.integers(0, 10_000), st.integers()),
    st.integers(-1, 99),
    st.integers(-1, 99),
    st.one_of(st.integers(-1, 99), st.integers()),
    st.sampled_from(["GMT", "UTC", "+9999", "-9999", "+99999999999999999999", "EST", ""]),
)
_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=100)
_NAMES = ("Retry-After", "Location", "Set-Cookie", "Content-Encoding", "Content-Type", "Date", "Connection", "Alt-Svc")

HEADER_LINES = st.lists(
    st.one_of(
        st.builds("Retry-After: {}".format, st.one_of(_NUMBERS, _DATES, _TEXTS)),
        st.builds("{}: {}".format, st.sampled_from(_NAMES), _TEXTS),
    ),
    min_size=1,
    max_size=4,
)
"""Headers of a response, from well-formed to absurd."""
