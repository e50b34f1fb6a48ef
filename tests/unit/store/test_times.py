"""Times and expiry: every moment is kept to the microsecond, and a token ends exactly when it says."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from store.auth.tokens import Token
from store.connection.columns import Instant

DIALECT = sqlite.dialect()
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.datetimes(timezones=st.timezones()))
def test_a_timestamp_comes_back_the_same_in_utc(timestamp: datetime) -> None:
    instant = Instant()
    stored = instant.process_bind_param(timestamp, DIALECT)
    assert isinstance(stored, int)
    back = instant.process_result_value(stored, DIALECT)
    assert back == timestamp.astimezone(UTC)
    assert back.tzinfo is UTC


def test_no_time_stays_no_time_and_a_naive_one_is_refused() -> None:
    assert Instant().process_bind_param(None, DIALECT) is None
    assert Instant().process_result_value(None, DIALECT) is None
    with pytest.raises(ValueError, match="without time zone"):
        Instant().process_bind_param(datetime(2026, 3, 1), DIALECT)  # noqa: DTZ001 - the naive time is the test


@pytest.mark.parametrize(
    ("expires", "revoked", "usable"),
    [
        (None, None, True),
        (NOW + timedelta(microseconds=1), None, True),
        (NOW, None, False),
        ((NOW - timedelta(days=1)).astimezone(timezone(timedelta(hours=9))), None, False),
        (None, NOW, False),
        (None, NOW + timedelta(days=1), False),  # revoked by a machine whose clock is ahead
    ],
)
def test_a_token_is_usable_until_it_expires_or_is_revoked(
    expires: datetime | None, revoked: datetime | None, usable: bool
) -> None:
    token = Token(
        id="tok_1",
        name="shop",
        scopes=frozenset({"order"}),
        sandbox=False,
        webhook_secret="whsec_",
        created_at=NOW,
        expires_at=expires,
        revoked_at=revoked,
    )
    assert token.usable(NOW) is usable
