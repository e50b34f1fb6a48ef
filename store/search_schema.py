"""The tables of saved searches, beside those of `store.schema`."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    text,
)

from store.schema import Instant, metadata, partial_index

# Searches that call back (store.saved_searches). One that was removed stays until its callbacks are erased.
LIVE_SEARCH: Final = text("removed_at IS NULL")
REMOVED_SEARCH: Final = text("removed_at IS NOT NULL")
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
    Column("since", BigInteger, nullable=False),  # the last change of the feed that it is not told
    Column("matches", Integer, nullable=False),  # the number of its last row in `search_matches`
    Column("created_at", Instant, nullable=False),
    Column("gap_at", Instant),  # when it was last not told something
    Column("removed_at", Instant),
)
partial_index("saved_searches_once", LIVE_SEARCH, saved_searches.c.token_id, saved_searches.c.body_digest, unique=True)
Index("saved_searches_of_token", saved_searches.c.token_id, saved_searches.c.created_at, saved_searches.c.id)
partial_index("saved_searches_to_erase", REMOVED_SEARCH, saved_searches.c.removed_at)

# What a saved search is told in one callback: a JSON array of changes, by zlib.
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
