"""The bound on connections follows the setting and the limit of open files, which is raised at the start."""

import resource
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from api.http.connections import MAX_REFUSALS, RESERVED_FILES, ConnectionLimit, raise_open_files


@pytest.fixture
def soft_limit() -> Iterator[int]:
    """A low soft limit of open files, for the length of a test."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield 1024
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one(soft_limit: int) -> None:
    raise_open_files()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == hard > soft_limit


def test_no_more_connections_are_taken_than_files_may_be_open(soft_limit: int) -> None:
    assert ConnectionLimit(4_000).max == soft_limit - RESERVED_FILES
    assert ConnectionLimit(100).max == 100


def test_refusals_are_logged_once_a_second(soft_limit: int) -> None:
    limit = ConnectionLimit(2)
    with capture_logs() as lines:
        assert [limit.is_exceeded(number) for number in (1, 2, 3, 4, 5)] == [False, False, True, True, True]
    assert [(line["max"], line["refused"]) for line in lines] == [(2, 1)]
    assert not limit.is_far_exceeded(2 + MAX_REFUSALS)
    assert limit.is_far_exceeded(3 + MAX_REFUSALS)
