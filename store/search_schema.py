"""The tables of searches and of what changes: vocabulary, change feed, counted texts and saved searches."""

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

from store.connection.columns import Instant, metadata, partial_index

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
    Column("since", BigInteger, nullable=False),  # the last change of the feed that it is not told
    Column("matches", Integer, nullable=False),  # the number of its last row in `search_matches`
    Column("created_at", Instant, nullable=False),
    Column("gap_at", Instant),  # when it was last not told something
    Column("removed_at", Instant),
)
_LIVE: Final = text("removed_at IS NULL")
partial_index("saved_searches_once", _LIVE, saved_searches.c.token_id, saved_searches.c.body_digest, unique=True)
Index("saved_searches_of_token", saved_searches.c.token_id, saved_searches.c.created_at, saved_searches.c.id)
partial_index("saved_searches_to_erase", text("removed_at IS NOT NULL"), saved_searches.c.removed_at)

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
