"""Trying again: as long as it may help, never longer than was allowed, and not once the work is stopped."""

from collections import deque

import pytest
from opensearchpy.exceptions import (
    AuthorizationException,
    ConnectionError,  # noqa: A004  # the client's own error
    ConnectionTimeout,
    NotFoundError,
    SerializationError,
    TransportError,
)

from indexer.engine.retry import RetriesExhaustedError, RetryPolicy, StoppedError, is_transient
from mappings.connection import SearchSettings
from mappings.engine_errors import describe_error

BUSY = TransportError(429, "rejected_execution_exception", {"error": {"reason": "queue is full"}})
GONE = ConnectionError("N/A", "refused", OSError("HTTPConnection(host='h', port=1): refused"))
DISK_FULL = TransportError(
    429, "cluster_block_exception", {"error": {"reason": "flood stage, read-only-allow-delete block"}}
)


def test_a_call_is_made_again_until_it_succeeds() -> None:
    responses: list[Exception | str] = [BUSY, GONE, "done"]

    def action() -> str:
        response = responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    assert RetryPolicy(30).call(action) == "done"


def test_retries_end_and_say_why() -> None:
    def action() -> None:
        raise GONE

    with pytest.raises(RetriesExhaustedError, match=r"0\.3 seconds.*refused"):
        RetryPolicy(0.3).call(action)


def test_what_is_not_transient_is_raised_at_once() -> None:
    def action() -> None:
        raise NotFoundError(404, "index_not_found_exception", {})

    with pytest.raises(NotFoundError):
        RetryPolicy(30).call(action)


def test_stopped_work_waits_no_more() -> None:
    policy = RetryPolicy(30)
    policy.stopped.set()
    with pytest.raises(StoppedError):
        policy.backoff().wait("busy")


def test_progress_starts_the_deadline_anew() -> None:
    backoff = RetryPolicy(0.2).backoff()
    for _ in range(3):
        backoff.wait("busy")
        backoff.reset()
    backoff.wait("busy")
    with pytest.raises(RetriesExhaustedError):
        deque(iter(lambda: backoff.wait("busy"), True), maxlen=0)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (BUSY, True),
        (GONE, True),
        (ConnectionTimeout("TIMEOUT", "slow", OSError("slow")), True),
        (TransportError(503, "unavailable", {}), True),
        (TransportError(502, "a proxy", "<html>"), True),
        (SerializationError("<html>"), True),
        (DISK_FULL, False),
        (TransportError(400, "bad", {}), False),
        (TransportError(413, "large", {}), False),
        (AuthorizationException(403, "security_exception", {}), False),
    ],
)
def test_only_faults_that_pass_are_waited_out(error: TransportError, passes: bool) -> None:
    assert is_transient(error) is passes


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (GONE, "cannot be reached at http://h:1 (GEAR_OPENSEARCH_URL): refused"),
        (ConnectionTimeout("TIMEOUT", "slow", OSError("slow")), "did not answer in time"),
        (DISK_FULL, "disk is too full"),
        (AuthorizationException(403, "security_exception", {"error": {"reason": "no"}}), "GEAR_OPENSEARCH_PASSWORD"),
        (TransportError(400, "bad_exception", {"error": {"reason": "it is bad"}}), "400 bad_exception: it is bad"),
        (TransportError(502, "Bad Gateway", "<html>"), "502 Bad Gateway: <html>"),
        (SerializationError("<html>"), "<html>"),
    ],
)
def test_errors_become_one_sentence(error: TransportError, sentence: str) -> None:
    assert sentence in describe_error(error, "http://h:1")


def test_an_address_is_shown_without_its_password() -> None:
    settings = SearchSettings(opensearch_url="https://me:secret@one:9200/path/, http://two")
    assert settings.redacted_address == "https://one:9200/path,http://two"
