"""Web: an http(s) address in, its bytes out, gone on with where a connection was cut, or a clear error.

A cut is gone on with by Range and If-Range, so that bytes of two versions are never joined: that needs a server which
names the version (ETag or Last-Modified) and answers ranges. An answer whose end cannot be told from a cut is refused.
"""

import random
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from types import TracebackType
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from urllib3 import BaseHTTPResponse, PoolManager, Timeout, make_headers
from urllib3.exceptions import HTTPError, LocationValueError, SSLError

from indexer.sources.lines import SourceError

Say = Callable[[str], None]

SCHEMES = ("http", "https")
CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0  # without a byte
MOST_REDIRECTS = 5
MOST_TRIES = 5  # without a byte more
MOST_CUTS = 100  # in all
FIRST_PAUSE = 0.5  # seconds, doubled with each try
MOST_READ = 256 * 1024
_PASSING = {408, 429, 500, 502, 503, 504}
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)", re.ASCII)
_POOL = re.compile(r"^HTTPS?Connection(Pool)?\(.*?\): ")


def is_address(name: str) -> bool:
    """Whether a source is named by an http(s) address."""
    return name.lower().startswith(("http://", "https://"))


def shown_address(address: str) -> str:
    """The address for messages and reports: without login, query and fragment, which may be secrets."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "…" if parts.query else "", ""))


def silent(text: str) -> None:
    """Says nothing."""


class WebFile:
    """One file of a server: `size` in bytes (None: not told), `position` the bytes handed out so far."""

    def __init__(self, address: str, say: Say = silent, *, pause: float = FIRST_PAUSE) -> None:
        self._address = address
        self._name = shown_address(address)
        self._say = say
        self._pause = pause
        self._pool = PoolManager(timeout=Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS), retries=False)
        self._version: dict[str, str] = {}
        self._tries = self._cuts = 0
        self._began = time.monotonic()
        self.position = 0
        self.size: int | None = None
        self._response = self._connected()

    def __enter__(self) -> "WebFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._response.close()
        self._pool.clear()

    def read(self, size: int = MOST_READ) -> bytes:
        """Up to `size` bytes, empty at the end; raises SourceError where it cannot be gone on with."""
        while True:
            try:
                data: bytes = self._response.read(size)
            except HTTPError as error:
                self._go_on(_cause(error))
                continue
            if data:
                self._tries = 0
                self.position += len(data)
                return data
            if self.size is None or self.position == self.size:
                self._say(f"{self._name}: {self.position:,} bytes in {time.monotonic() - self._began:,.1f} s")
                return b""
            self._go_on(f"the connection ended after {self.position:,} of {self.size:,} bytes")

    def _go_on(self, reason: str) -> None:
        """Opens the rest after a cut."""
        self._response.close()
        self._cuts += 1
        if self.position and not self._version:
            message = f"{reason}; the server names no version of the file, so it cannot be gone on with: {_BY_HAND}"
            raise SourceError(message)
        if self._cuts > MOST_CUTS:
            message = f"was cut {MOST_CUTS} times: {reason}; {_BY_HAND}"
            raise SourceError(message)
        self._wait(reason)
        self._response = self._connected()

    def _wait(self, reason: str) -> None:
        self._tries += 1
        if self._tries >= MOST_TRIES:
            message = f"gave up after {MOST_TRIES} tries without a byte more, at byte {self.position:,}: {reason}"
            raise SourceError(message)
        self._say(f"{self._name}: {reason}; trying again at byte {self.position:,} ({self._tries} of {MOST_TRIES - 1})")
        jitter = random.uniform(0.5, 1)  # noqa: S311  # so that many loaders do not come in step
        time.sleep(self._pause * 2 ** (self._tries - 1) * jitter)

    def _connected(self) -> BaseHTTPResponse:
        """The answer that goes on at `position`; waits out what may pass."""
        while True:
            try:
                response = self._asked()
            except (LocationValueError, SSLError) as error:
                message = f"cannot be asked for: {_cause(error)}"
                raise SourceError(message) from error
            except HTTPError as error:
                self._wait(_cause(error))
                continue
            if response.status not in _PASSING:
                self._check(response)
                return response
            response.close()
            self._wait(f"the server answered {_status(response)}")

    def _asked(self) -> BaseHTTPResponse:
        """One request, and those that redirects lead to."""
        target = self._address
        headers = {"user-agent": "gear-indexer", "accept": "*/*", "accept-encoding": "identity"}
        if self.position:
            headers |= {"range": f"bytes={self.position}-", "if-range": next(iter(self._version.values()))}
        for _ in range(MOST_REDIRECTS + 1):
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
            target = _redirected(target, location)
        message = f"the server redirects more than {MOST_REDIRECTS} times"
        raise SourceError(message)

    def _check(self, response: BaseHTTPResponse) -> None:
        if self.position:
            self._check_rest(response)
            return
        if response.status != HTTPStatus.OK:
            response.close()
            message = f"the server answered {_status(response)}"
            raise SourceError(message)
        length = response.headers.get("content-length")
        chunked = "chunked" in response.headers.get("transfer-encoding", "").lower()
        if length is None and not chunked:
            response.close()
            message = f"the server tells no length, so that a cut would look like the end: {_BY_HAND}"
            raise SourceError(message)
        self.size = None if length is None or chunked else int(length)
        self._version = _version(response)

    def _check_rest(self, response: BaseHTTPResponse) -> None:
        """Raises SourceError unless this is the rest of the very file that was begun."""
        status, version = response.status, _version(response)
        same = all(version.get(name, value) == value for name, value in self._version.items())
        if status == HTTPStatus.PARTIAL_CONTENT and same:
            match = _RANGE.fullmatch(response.headers.get("content-range", ""))
            if match and int(match[1]) == self.position and (self.size is None or match[3] in ("*", str(self.size))):
                return
            message = f"the server answered another part than was asked for; {_BY_HAND}"
        elif status == HTTPStatus.OK and version and same:
            message = f"was cut at byte {self.position:,}, and the server cannot go on within a file: {_BY_HAND}"
        elif status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
            message = f"was cut at byte {self.position:,}, and has changed on the server since: load it anew"
        else:
            message = f"was cut at byte {self.position:,}, then the server answered {_status(response)}"
        response.close()
        raise SourceError(message)


_BY_HAND = "fetch it to a file first and load that"


def _version(response: BaseHTTPResponse) -> dict[str, str]:
    """What names the version of a file; the first is fit for If-Range, so a weak ETag is not among them."""
    tag = response.headers.get("etag", "")
    named = {"etag": "" if tag.startswith("W/") else tag, "last-modified": response.headers.get("last-modified", "")}
    return {name: value for name, value in named.items() if value}


def _login(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    return dict(make_headers(basic_auth=f"{unquote(parts.username)}:{unquote(parts.password or '')}"))


def _redirected(begin: str, location: str) -> str:
    target = urljoin(begin, location)
    before, after = urlsplit(begin), urlsplit(target)
    if after.scheme not in SCHEMES or (before.scheme == "https" and after.scheme == "http"):
        message = f"the server redirects to {shown_address(target)}, which is no https address any more"
        raise SourceError(message)
    same_place = (before.scheme, before.hostname, before.port) == (after.scheme, after.hostname, after.port)
    if same_place and before.username is not None and after.username is None:
        login = before.netloc.rpartition("@")[0]
        return urlunsplit(after._replace(netloc=f"{login}@{after.netloc}"))
    return target


def _status(response: BaseHTTPResponse) -> str:
    try:
        return f"{response.status} {HTTPStatus(response.status).phrase}"
    except ValueError:  # a status that no standard knows
        return str(response.status)


def _cause(error: HTTPError) -> str:
    return _POOL.sub("", str(error))
