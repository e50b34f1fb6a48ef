"""All tables, in SQLAlchemy Core, for SQLite and PostgreSQL alike."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    FromClause,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal_column,
    text,
)

from store.connection.columns import Instant, partial_index
from store.connection.encryption import Encrypted
from store.states import OPEN, RELEASED, STATES

metadata: Final = MetaData(naming_convention={"pk": "%(table_name)s_pk", "uq": "%(table_name)s_%(column_0_name)s"})

REVISION: Final = "0021"
"""The migration that makes these tables (`store/migrations/versions`)."""

_RELEASED: Final = tuple(state for state in STATES if state in RELEASED)

# Conditions of partial indexes are literal text: an index is only used by a query that says the same.
ACTIVE: Final = text(f"NOT sandbox AND state NOT IN {_RELEASED}")
"""An order that binds its item."""
ACTIVE_SANDBOX: Final = text(f"sandbox AND state NOT IN {_RELEASED}")
"""A sandbox order that would bind its item; it only keeps its own token from ordering the same one twice."""
# Not as a list of ENDED: SQLite would look through all orders in these states, not in the index made for the question.
_IS_ENDED: Final = f"state NOT IN {OPEN}"
PERSONAL: Final = text(f"email <> '' AND {_IS_ENDED}")
"""An ended order that still says who the buyer is (store.orders.privacy)."""
TO_FORGET: Final = text(f"forget AND {_IS_ENDED}")
"""One of these whose buyer is to be forgotten without waiting."""
REFUSED: Final = text("refusals > 0 AND response IS NULL")
"""An idempotency key of which every request was refused so far."""

UNDELIVERED: Final = text("state IN ('created', 'processing')")
"""An order whose item was not handed over yet: what quotas count (store.orders.quotas)."""

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("sha256", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),  # sorted, separated by one space
    Column("sandbox", Boolean, nullable=False),
    Column("webhook_secret", Encrypted, nullable=False),  # not as a hash: callbacks are signed with it
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("previous_webhook_secret", Encrypted),  # signs too, until the moment below
    Column("previous_webhook_secret_until", Instant),
    Column("callbacks_stopped_at", Instant),  # since then none is sent
    Column("callbacks_failed", BigInteger, nullable=False, server_default="0"),  # how many were given up
    Column("max_active", Integer, nullable=False, server_default="1000"),  # undelivered orders at once
    Column("max_active_per_account", Integer),
    Column("rate_limit", Integer),  # instead of that of all tokens
    Column("filters", Text),  # a JSON object, as `filters` of a search: forced on all that the token reads
    Column("origins", Text),  # of web pages that may use it, separated by one space
    Column("last_used_at", Instant),  # coarse
)

# Where a token's callbacks may go. A token without endpoints sends them anywhere, signed with its own secret.
webhook_endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", Text, primary_key=True),
    Column("token_id", Text, ForeignKey("tokens.id", name="webhook_endpoints_token"), nullable=False),
    Column("url", Text, nullable=False),
    Column("exact", Boolean, nullable=False),
    Column("secret", Encrypted, nullable=False),
    Column("previous_secret", Encrypted),  # signs too, until the moment below
    Column("previous_secret_until", Instant),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("token_id", "url", name="webhook_endpoints_url"),
)

orders = Table(
    "orders",
    metadata,
    Column("id", Text, primary_key=True),
    Column("token_id", Text, ForeignKey("tokens.id", name="orders_token"), nullable=False),
    Column("state", Text, nullable=False),
    Column("platform", Integer, nullable=False),
    Column("item", BigInteger, nullable=False),
    Column("item_name", Text, nullable=False),
    Column("item_image", Text),
    Column("account", Text, nullable=False),
    Column("email", Encrypted, nullable=False),
    Column("platform_user_id", Text),
    Column("trade_link", Encrypted),
    Column("code", Text),
    Column("fee_mode", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("price_minor", BigInteger, nullable=False),
    Column("fee_minor", BigInteger, nullable=False),
    Column("total_minor", BigInteger, nullable=False),
    Column("utm_source", Text),
    Column("utm_medium", Text),
    Column("success_url", Text),
    Column("failure_url", Text),
    Column("callback_url", Text),
    Column("status_key", Text, nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("sandbox", Boolean, nullable=False, server_default=false()),
    Column("body_digest", Text),  # of the request's body: the same again is the same order
    Column("forget", Boolean, nullable=False, server_default=false()),  # the personal data, at the order's end
    CheckConstraint(f"state IN {STATES}", name="orders_state"),
    CheckConstraint("fee_mode IN ('excluded', 'included')", name="orders_fee_mode"),
    CheckConstraint("price_minor >= 0 AND fee_minor >= 0 AND total_minor >= 0", name="orders_amounts"),
)
# One item, one active order: the database holds it, no read before the write does.
partial_index("orders_one_active", ACTIVE, orders.c.platform, orders.c.item, unique=True)
partial_index("orders_one_tried", ACTIVE_SANDBOX, orders.c.token_id, orders.c.platform, orders.c.item, unique=True)
# Read backwards they are lists of orders, newest first: a token's, and everybody's, whole or of one value.
Index("orders_of_token", orders.c.token_id, orders.c.created_at, orders.c.id)
Index("orders_of_token_in_state", orders.c.token_id, orders.c.state, orders.c.created_at, orders.c.id)
Index("orders_in_time", orders.c.created_at, orders.c.id)
Index("orders_in_state", orders.c.state, orders.c.created_at, orders.c.id)
Index("orders_of_account", orders.c.account, orders.c.created_at, orders.c.id)
Index("orders_of_item", orders.c.item, orders.c.created_at, orders.c.id)
partial_index("orders_personal_at_end", PERSONAL, orders.c.updated_at)
partial_index("orders_to_forget_at_end", TO_FORGET, orders.c.updated_at)
partial_index("orders_undelivered", UNDELIVERED, orders.c.token_id, orders.c.account)

order_events = Table(
    "order_events",
    metadata,
    Column("order_id", Text, ForeignKey("orders.id", name="order_events_order"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("reason", Text),
    Column("actor", Text),  # a token's id, `system` or `command` (store.records.Actor); none in old rows
    Column("actor_name", Text),
    CheckConstraint(f"state IN {STATES}", name="order_events_state"),
)
Index("order_events_in_time", order_events.c.at, order_events.c.order_id, order_events.c.n)

# What commands did, and reads that are recorded (store.audit). Triggers refuse to change a row, as of `order_events`.
audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("actor", Text, nullable=False),
    Column("actor_name", Text),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text, nullable=False),  # a JSON object
)
Index("audit_in_time", audit.c.at, audit.c.id)

# The response to each order that was sent with an Idempotency-Key, as text, for its retries; without one, the key's
# requests were refused so far.
idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("token_id", Text, ForeignKey("tokens.id", name="idempotency_keys_token"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body_digest", Text, nullable=False),
    Column("order_id", Text, ForeignKey("orders.id", name="idempotency_keys_order")),
    Column("response", Text),
    Column("created_at", Instant, nullable=False),
    Column("refusals", Integer, nullable=False, server_default="0"),
)
Index("idempotency_keys_in_time", idempotency_keys.c.created_at)
partial_index("idempotency_keys_refused", REFUSED, idempotency_keys.c.created_at)
Index("idempotency_keys_of_order", idempotency_keys.c.order_id)

# What sandbox orders are still to go through by themselves.
sandbox_moves = Table(
    "sandbox_moves",
    metadata,
    Column("order_id", Text, ForeignKey("orders.id", name="sandbox_moves_order"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("reason", Text),
    Column("due_at", Instant, nullable=False),
)
Index("sandbox_moves_due", sandbox_moves.c.due_at)

# Items that are not offered although no order binds them: a restored database lost their orders (store.orders.holds).
held_items = Table(
    "held_items",
    metadata,
    Column("platform", Integer, primary_key=True),
    Column("item", BigInteger, primary_key=True),
    Column("held_at", Instant, nullable=False),
)

# The outbox of the search index (store.outbox.index_outbox).
UPDATE_PENDING: Final = text("applied_version < version")
index_outbox = Table(
    "index_outbox",
    metadata,
    Column("platform", Integer, primary_key=True),
    Column("item", BigInteger, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("applied_version", BigInteger, nullable=False),
    Column("leased_until", Instant),
    Column("attempts", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("failures", Integer, nullable=False, server_default="0"),  # by faults of ours, since its last change
)
partial_index("index_outbox_pending", UPDATE_PENDING, index_outbox.c.updated_at)

# What the service signs its cursors with, base64; made by whichever process first needs it.
signing_keys = Table(
    "signing_keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Encrypted, nullable=False),
    Column("created_at", Instant, nullable=False),
)

OUTCOMES: Final = ("delivered", "rejected", "timeout", "unreachable", "refused")

# The outbox of callbacks: one row for each event of an order with a callback address, and for each row of
# `search_matches`. `order_id` and `n` are the event's; of matches, the search's id and their number. Of the pending
# rows of an order or a search only the first has a `next_attempt_at`: the others wait for it.
deliveries = Table(
    "deliveries",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("receiver", Text, nullable=False),  # host and port of the callback address
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False),  # of this round, recorded or not; a replay begins a new one
    Column("next_attempt_at", Instant),
    Column("leased_until", Instant),
    Column("last_attempt_at", Instant),
    CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="deliveries_state"),
)


def is_pending(rows: FromClause) -> ColumnElement[bool]:
    """Whether a row of `deliveries`, or of an alias of it, is pending; literal, as the partial index has it."""
    return rows.c.state == literal_column("'pending'")


PENDING: Final = is_pending(deliveries)
partial_index("deliveries_pending", PENDING, deliveries.c.next_attempt_at)

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status_code", Integer),
    Column("milliseconds", Integer, nullable=False),
    ForeignKeyConstraint(["order_id", "n"], ["deliveries.order_id", "deliveries.n"], name="delivery_attempts_delivery"),
    CheckConstraint(f"outcome IN {OUTCOMES}", name="delivery_attempts_outcome"),
)

# Terms that operators have added to a platform's vocabulary; `term` is JSON (VocabularyTerm in mappings/vocabulary).
vocabulary_terms = Table(
    "vocabulary_terms",
    metadata,
    Column("id", Text, primary_key=True),
    Column("platform", Integer, nullable=False),
    Column("term", Text, nullable=False),
    Column("author", Text),
    Column("created_at", Instant, nullable=False),
    Column("removed_at", Instant),
)

# The change feed of a service, by its index prefix: who records it, how far it is written, and of which snapshots of
# the indices (JSON). There is a row while the feed is read.
feeds = Table(
    "feeds",
    metadata,
    Column("name", Text, primary_key=True),
    Column("term", Integer, nullable=False),  # one more with every recorder
    Column("owner", Text),
    Column("leased_until", Instant),
    Column("read_at", Instant, nullable=False),
    Column("committed", BigInteger, nullable=False),
    Column("state", Text),
)

# The logs that hold a feed's changes, each by one recorder. What a log has beyond `last` was never committed.
feed_segments = Table(
    "feed_segments",
    metadata,
    Column("feed", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("closed_at", Instant),
)

# How often a text was searched for without a result on a day (store.unanswered_searches).
unanswered_searches = Table(
    "unanswered_searches",
    metadata,
    Column("day", Text, primary_key=True),  # 2026-11-23, UTC
    Column("platform", Integer, primary_key=True),
    Column("text", Text, primary_key=True),  # folded
    Column("reading", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
)

# Searches that call back (store.saved_searches). One that was removed stays until its callbacks are erased.
saved_searches = Table(
    "saved_searches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("token_id", Text, ForeignKey("tokens.id", name="saved_searches_token"), nullable=False),
    Column("name", Text, nullable=False),
    Column("body", Text, nullable=False),  # JSON, as it came
    Column("body_digest", Text, nullable=False),  # the same again is the same search
    Column("callback_url", Text, nullable=False),
    Column("sandbox", Boolean, nullable=False),
    Column("since", BigInteger, nullable=False),  # the last change of the feed that is not delivered
    Column("matches", Integer, nullable=False),  # the number of its last row in `search_matches`
    Column("created_at", Instant, nullable=False),
    Column("gap_at", Instant),  # when a match was last dropped
    Column("removed_at", Instant),
)
_LIVE: Final = text("removed_at IS NULL")
partial_index("saved_searches_once", _LIVE, saved_searches.c.token_id, saved_searches.c.body_digest, unique=True)
Index("saved_searches_of_token", saved_searches.c.token_id, saved_searches.c.created_at, saved_searches.c.id)
partial_index("saved_searches_to_erase", text("removed_at IS NOT NULL"), saved_searches.c.removed_at)

# The content of one callback of a saved search: a JSON array of changes, by zlib.
search_matches = Table(
    "search_matches",
    metadata,
    Column("search_id", Text, ForeignKey("saved_searches.id", name="search_matches_search"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("changes", LargeBinary, nullable=False),
)
Index("search_matches_in_time", search_matches.c.at)

# Up to which change the saved searches of a service are matched, by its index prefix, and who does so.
search_matchers = Table(
    "search_matchers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text),
    Column("leased_until", Instant),
    Column("segment", Text),
    Column("seq", BigInteger, nullable=False),
)
