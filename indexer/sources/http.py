"""Downloads a file over http(s), resumes it after a lost connection, or says why it cannot.

A download resumes by Range and If-Range, so that bytes of two versions are never joined. That needs a server that names
the version (ETag or Last-Modified) and answers ranges. A response whose end looks like a lost connection is refused.

Redirects and backoff are ours: `urllib3.Retry` counts the tries of one request, while here they count until more bytes
arrive, whether a connection or a response body broke; and it would follow a redirect from https to http.
"""

import random
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from http.client import responses
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from urllib3 import BaseHTTPResponse, PoolManager, Timeout, make_headers
from urllib3.exceptions import HTTPError, SSLError

from indexer.sources.records import SourceError

Say = Callable[[str], None]

SCHEMES = ("http", "https")
CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0  # without a byte
MAX_REDIRECTS = 5
MAX_TRIES = 5  # without a byte more
MAX_INTERRUPTIONS = 100  # in all
INITIAL_PAUSE = 0.5  # seconds, doubled with each try
READ_BYTES = 256 * 1024
_TRANSIENT = {408, 429, 500, 502, 503, 504}
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)", re.ASCII)
_POOL_PREFIX = re.compile(r"^HTTPS?Connection(Pool)?\(.*?\): ")


def is_url(name: str) -> bool:
    return name.lower().startswith(("http://", "https://"))


def redacted_url(url: str) -> str:
    """The URL for messages and reports, without login, query and fragment, which may be secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:  # it is none, and what of it is secret is not known
        return f"{url.partition(':')[0]}://…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "…" if parts.query else "", ""))


def silent(text: str) -> None:
    """Discards a message."""


class HttpFile(AbstractContextManager["HttpFile"]):
    """A file on a server: `size` in bytes (None: unknown), `position` is the number of bytes read so far."""

    def __init__(self, url: str, say: Say = silent, *, pause: float = INITIAL_PAUSE) -> None:
        self._url = url
        self._name = redacted_url(url)
        self._say = say
        self._pause = pause
        self._pool = PoolManager(timeout=Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS), retries=False)
        self._version: dict[str, str] = {}
        self._tries = self._interruptions = 0
        self._started = time.monotonic()
        self.position = 0
        self.size: int | None = None
        self._response = self._open()

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._pool.clear()

    def read(self, size: int = READ_BYTES) -> bytes:
        """Up to `size` bytes, empty at the end; raises SourceError where the download cannot resume."""
        while True:
            try:
                data: bytes = self._response.read(size)
            except HTTPError as error:
                self._resume(_cause(error))
                continue
            if data:
                self._tries = 0
                self.position += len(data)
                return data
            if self.size is None or self.position == self.size:
                self._say(f"{self._name}: {self.position:,} bytes in {time.monotonic() - self._started:,.1f} s")
                return b""
            self._resume(f"the connection ended after {self.position:,} of {self.size:,} bytes")

    def _resume(self, reason: str) -> None:
        """Opens the rest of the file after a lost connection."""
        self._response.close()
        self._interruptions += 1
        if self.position and not self._version:
            message = f"{reason}; the server names no version of the file, so it cannot resume: {_DOWNLOAD_FIRST}"
            raise SourceError(message)
        if self._interruptions > MAX_INTERRUPTIONS:
            raise SourceError(f"was cut {MAX_INTERRUPTIONS} times: {reason}; {_DOWNLOAD_FIRST}")
        self._wait(reason)
        self._response = self._open()

    def _wait(self, reason: str) -> None:
        self._tries += 1
        if self._tries >= MAX_TRIES:
            message = f"gave up after {MAX_TRIES} tries without a byte more, at byte {self.position:,}: {reason}"
            raise SourceError(message)
        self._say(f"{self._name}: {reason}; trying again at byte {self.position:,} ({self._tries} of {MAX_TRIES - 1})")
        jitter = random.uniform(0.5, 1)  # noqa: S311  # so that many loaders do not retry in step
        time.sleep(self._pause * 2 ** (self._tries - 1) * jitter)

    def _open(self) -> BaseHTTPResponse:
        """The response that starts at `position`; retries transient failures."""
        while True:
            try:
                response = self._request()
            except SourceError:
                raise
            except (ValueError, SSLError) as error:  # of an address that is none, or of a redirect to one
                raise SourceError(f"cannot be requested: {_cause(error)}") from error
            except HTTPError as error:
                self._wait(_cause(error))
                continue
            if response.status not in _TRANSIENT:
                self._check(response)
                return response
            response.close()
            self._wait(f"the server answered {_status(response)}")

    def _request(self) -> BaseHTTPResponse:
        """Sends one request and follows its redirects."""
        target = self._url
        headers = {"user-agent": "gear-indexer", "accept": "*/*", "accept-encoding": "identity"}
        if self.position:
            headers |= {"range": f"bytes={self.position}-", "if-range": next(iter(self._version.values()))}
        for _ in range(MAX_REDIRECTS + 1):
            parts = urlsplit(target)
            response = self._pool.request(
                "GET",
                urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, "")),
                headers={**headers, **_login(parts)},
                preload_content=False,
                decode_content=False,
                redirect=False,
            )
            location = response.get_redirect_location()
            if not location:
                return response
            response.close()
            target = _redirect_target(target, location)
        raise SourceError(f"the server redirects more than {MAX_REDIRECTS} times")

    def _check(self, response: BaseHTTPResponse) -> None:
        if self.position:
            self._check_resumed(response)
            return
        if response.status != HTTPStatus.OK:
            response.close()
            raise SourceError(f"the server answered {_status(response)}")
        self.size = response.length_remaining
        if self.size is None and not response.chunked:
            response.close()
            message = f"the server sends no length, so a lost connection would look like the end: {_DOWNLOAD_FIRST}"
            raise SourceError(message)
        self._version = _version(response)

    def _check_resumed(self, response: BaseHTTPResponse) -> None:
        """Raises SourceError unless this is the rest of the same version of the file."""
        status, version = response.status, _version(response)
        same = all(version.get(name, value) == value for name, value in self._version.items())
        if status == HTTPStatus.PARTIAL_CONTENT and same:
            match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
            if match and int(match[1]) == self.position and (self.size is None or match[3] in ("*", str(self.size))):
                return
            message = f"the server answered another part than was requested; {_DOWNLOAD_FIRST}"
        elif status == HTTPStatus.OK and version and same:
            message = f"was cut at byte {self.position:,}, and the server cannot resume a download: {_DOWNLOAD_FIRST}"
        elif status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
            message = f"was cut at byte {self.position:,}, and has changed on the server since: load it anew"
        else:
            message = f"was cut at byte {self.position:,}, then the server answered {_status(response)}"
        response.close()
        raise SourceError(message)


_DOWNLOAD_FIRST = "download it to a file first and load that"


def _version(response: BaseHTTPResponse) -> dict[str, str]:
    """The headers that name the version of a file; the first goes into If-Range, which takes no weak ETag."""
    tag = response.headers.get("etag", "")
    headers = {"etag": "" if tag.startswith("W/") else tag, "last-modified": response.headers.get("last-modified", "")}
    return {name: value for name, value in headers.items() if value}


def _login(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    return dict(make_headers(basic_auth=f"{unquote(parts.username)}:{unquote(parts.password or '')}"))


def _redirect_target(source: str, location: str) -> str:
    target = urljoin(source, location)
    before, after = urlsplit(source), urlsplit(target)
    if after.scheme not in SCHEMES or (before.scheme == "https" and after.scheme == "http"):
        raise SourceError(f"the server redirects to {redacted_url(target)}, which is no https address any more")
    same_origin = (before.scheme, before.hostname, before.port) == (after.scheme, after.hostname, after.port)
    if same_origin and before.username is not None and after.username is None:
        login = before.netloc.rpartition("@")[0]
        return urlunsplit(after._replace(netloc=f"{login}@{after.netloc}"))
    return target


def _status(response: BaseHTTPResponse) -> str:
    return f"{response.status} {responses.get(response.status, '')}".rstrip()


def _cause(error: Exception) -> str:
    return _POOL_PREFIX.sub("", str(error))
