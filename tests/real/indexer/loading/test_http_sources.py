"""A catalogue behind an http address is read to its last byte, whole and of one version, or the error says why not."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.sources.http import MAX_REDIRECTS, MAX_TRIES, HttpFile, redacted_url
from indexer.sources.records import SourceError
from indexer.sources.source import Source
from tests.support.indexer.file_server import FileServer

BODY = os.urandom(300_000)
Talk = list[str]


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer(BODY) as running:
        yield running


def fetched(url: str, talk: Talk | None = None) -> bytes:
    """Everything that is read from an address, without waiting between tries."""
    with HttpFile(url, (talk if talk is not None else []).append, pause=0) as web:
        return rest(web)


def rest(web: HttpFile) -> bytes:
    """Everything to the end."""
    return b"".join(iter(web.read, b""))


def test_a_file_is_read_and_its_size_and_time_are_reported(server: FileServer) -> None:
    talk: Talk = []
    with HttpFile(server.url(), talk.append) as web:
        assert web.size == len(BODY)
        assert b"".join(iter(lambda: web.read(1000), b"")) == BODY
        assert web.position == len(BODY)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/items\.ndjson: 300,000 bytes in [\d.]+ s", talk[0])


@pytest.mark.parametrize("named", ["etag", "modified"])
def test_a_cut_is_gone_on_with_where_it_was(named: str, server: FileServer) -> None:
    if named == "modified":
        server.tag, server.modified = None, "Thu, 01 Jan 2026 00:00:00 GMT"
    server.cuts = [100_000, 1, 0, 120_000]
    talk: Talk = []
    assert hashlib.sha256(fetched(server.url(), talk)).digest() == hashlib.sha256(BODY).digest()
    assert len(server.requested) == 5
    again = server.requested[-1]
    assert again["range"].startswith("bytes=")
    assert int(again["range"][6:-1]) > 200_000
    assert again["if-range"] == (server.modified if named == "modified" else server.tag)
    assert sum("trying again at byte" in line for line in talk) == 4


def test_a_chunked_answer_is_gone_on_with_too(server: FileServer) -> None:
    server.chunked = True
    assert fetched(server.url()) == BODY
    server.cuts = [200_000]
    assert fetched(server.url()) == BODY


def test_a_server_that_cannot_go_on_is_named(server: FileServer) -> None:
    server.ranges, server.cuts = False, [100_000]
    with pytest.raises(SourceError, match="cannot resume a download: download it to a file first"):
        fetched(server.url())


def test_a_file_without_a_version_is_never_joined_from_parts(server: FileServer) -> None:
    server.tag, server.cuts = None, [100_000]
    with pytest.raises(SourceError, match="names no version"):
        fetched(server.url())
    server.tag, server.cuts = 'W/"weak"', [100_000]
    with pytest.raises(SourceError, match="names no version"):
        fetched(server.url())


def test_a_file_that_changes_while_it_is_read_is_an_error(server: FileServer) -> None:
    server.cuts = [100_000]
    with HttpFile(server.url(), pause=0) as web:
        assert web.read(1000)
        server.tag, server.body = '"two"', os.urandom(300_000)
        with pytest.raises(SourceError, match="has changed on the server"):
            rest(web)


def test_the_answer_to_a_range_is_checked(server: FileServer) -> None:
    """A server that takes no notice of If-Range and answers with the new version's rest."""
    server.cuts = [100_000]
    with HttpFile(server.url(), pause=0) as web:
        assert web.read(1000)
        server.body += b"more"
        with pytest.raises(SourceError, match="another part"):
            rest(web)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_refusal_is_reported_at_once(status: int, server: FileServer) -> None:
    server.statuses = [status]
    with pytest.raises(SourceError, match=f"the server answered {status} "):
        fetched(server.url())
    assert len(server.requested) == 1


def test_faults_that_pass_are_waited_out(server: FileServer) -> None:
    server.statuses = [500, 503, 429]
    assert fetched(server.url()) == BODY
    server.statuses = [500] * 20
    with pytest.raises(SourceError, match=f"gave up after {MAX_TRIES} tries.*500 Internal Server Error"):
        fetched(server.url())
    assert len(server.statuses) == 20 - MAX_TRIES


def test_cuts_without_progress_end(server: FileServer) -> None:
    server.cuts = [5, *[0] * 50]
    with pytest.raises(SourceError, match=f"gave up after {MAX_TRIES} tries without a byte more, at byte"):
        fetched(server.url())


def test_a_server_that_is_gone_is_named(server: FileServer) -> None:
    with FileServer(b"") as stopped:
        url = stopped.url()
    with pytest.raises(SourceError, match=r"gave up.*refused"):
        fetched(url)


def test_an_answer_whose_end_is_unknown_is_refused(server: FileServer) -> None:
    server.length = False
    with pytest.raises(SourceError, match="sends no length"):
        fetched(server.url())


def test_redirects_are_followed_but_not_for_ever(server: FileServer) -> None:
    server.location = "/elsewhere.ndjson"
    server.statuses = [301, 302, 307]
    assert fetched(server.url()) == BODY
    server.statuses = [302] * 20
    with pytest.raises(SourceError, match=f"redirects more than {MAX_REDIRECTS} times"):
        fetched(server.url())
    server.location, server.statuses = "file:///etc/passwd", [302]
    with pytest.raises(SourceError, match="redirects to file"):
        fetched(server.url())
    server.location, server.statuses = "http://[::1/", [302]
    with pytest.raises(SourceError, match="cannot be requested: Invalid IPv6 URL"):
        fetched(server.url())


def test_a_login_goes_to_its_own_server_alone_and_into_no_message(server: FileServer) -> None:
    server.login = "Basic bWU6c2VjcmV0"
    url = server.url("items.ndjson?key=hidden").replace("http://", "http://me:secret@")
    talk: Talk = []
    server.location, server.statuses = "/there", [302]
    assert fetched(url, talk) == BODY
    assert server.requested[-1]["authorization"] == server.login
    with FileServer(BODY) as other:
        server.location, server.statuses = other.url(), [302]
        assert fetched(url, talk) == BODY
        assert "authorization" not in other.requested[0]
    server.login = "Basic other"
    with pytest.raises(SourceError, match="401 Unauthorized") as caught, Source(url, say=talk.append):
        pass
    assert not [text for text in (*talk, str(caught.value)) if "secret" in text or "hidden" in text]
    assert redacted_url("https://me:pw@x.example/a?b#c") == "https://x.example/a?…"


def test_an_address_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="http:///x"):
        Source("http:///x")
