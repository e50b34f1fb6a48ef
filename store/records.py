"""Rows as values: orders, events, planned moves, positions in logs, matches, callbacks and attempts. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from store.states import RELEASED


@dataclass(frozen=True)
class Actor:
    """Who does something: a token by its id and name, the service itself (SYSTEM), or a command's user by name."""

    id: str
    name: str | None = None

    @classmethod
    def command(cls, user: str) -> "Actor":
        return cls("command", user)


SYSTEM: Final = Actor("system")


@dataclass(frozen=True, kw_only=True)
class NewOrder:
    """What is known when an order is placed.

    Amounts are in minor units of `currency`; `platform` is the numeric id, `item` a signed 64-bit id, `fee_mode` is
    `excluded` or `included`. Text must not hold U+0000, which PostgreSQL cannot store. `repr` leaves the buyer's data
    out.
    """

    token_id: str
    platform: int
    item: int
    item_name: str
    item_image: str | None = None
    account: str
    email: str = field(repr=False)
    platform_user_id: str | None = field(default=None, repr=False)
    trade_link: str | None = field(default=None, repr=False)
    code: str | None = None
    fee_mode: str
    currency: str
    price_minor: int
    fee_minor: int
    total_minor: int
    utm_source: str | None = None
    utm_medium: str | None = None
    success_url: str | None = field(default=None, repr=False)
    failure_url: str | None = field(default=None, repr=False)
    callback_url: str | None = field(default=None, repr=False)
    sandbox: bool = False
    body_digest: str | None = field(default=None, repr=False)
    forget: bool = False


@dataclass(frozen=True, kw_only=True)
class Order(NewOrder):
    """A stored order. `status_key` opens the buyer's page without a token: never log it."""

    id: str
    state: str
    status_key: str = field(repr=False)
    created_at: datetime
    updated_at: datetime

    @property
    def active(self) -> bool:
        """Whether the order binds its item."""
        return self.state not in RELEASED


@dataclass(frozen=True, kw_only=True)
class OrderEvent:
    """One change of an order's state, and who made it; `n` counts from 1 within the order."""

    order_id: str
    n: int
    state: str
    at: datetime
    reason: str | None
    actor: str | None = None
    actor_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class PlannedMove:
    """One move, made at `due_at` if the order is in `from_state` then."""

    from_state: str
    to_state: str
    reason: str | None
    due_at: datetime


@dataclass(frozen=True, kw_only=True)
class SearchMatches:
    """The content of one callback of a saved search: `changes` is a JSON array."""

    id: str  # of the saved search
    name: str
    token_id: str
    sandbox: bool
    callback_url: str | None = field(repr=False)
    at: datetime
    changes: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class DeliveryWork:
    """One callback to make: the order as it was at its event `n`, or the n-th matches of a saved search, and the
    secrets that sign it, newest first. Without a secret it must not be sent: the token has endpoints, and none covers
    the address.

    `tries` counts the earlier attempts of this round, `attempts` those on record when it was leased. Where its token's
    callbacks were `stopped`, it is not to be made.
    """

    subject: Order | SearchMatches
    n: int
    receiver: str
    secrets: tuple[str, ...] = field(repr=False)
    tries: int
    attempts: int
    leased_until: datetime
    stopped: bool = False


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How one attempt ended: `outcome` is one of store.schema.OUTCOMES; nothing that the receiver says is stored."""

    at: datetime
    outcome: str
    status_code: int | None
    milliseconds: int


@dataclass(frozen=True)
class LogPosition:
    """The change `seq` of a log, or the position before its first one; of no log where nothing was read yet."""

    segment: str | None
    seq: int
