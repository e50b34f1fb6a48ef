"""Sends signed messages to receivers; reads no more than the status and `Retry-After`, and follows no redirect."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from ssl import SSLContext
from string import punctuation
from time import monotonic
from typing import Final, Self
from urllib.parse import quote, urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, TraceConfig
from yarl import URL

from api.webhooks.addresses import url_problem
from api.webhooks.payload import Message
from api.webhooks.resolver import CheckingResolver, Lookup, ReceiverRefusedError, socket_to, system_lookup
from api.webhooks.schedule import Outcome, outcome_of

ATTEMPT_SECONDS: Final = 15.0
"""For an attempt from the name lookup to the response's head; Standard Webhooks asks for 15 to 30."""
BODY_BYTES: Final = 4096
BODY_SECONDS: Final = 1.0
"""As much of a response's body is read, so that its writer sees no error."""
HEAD_BYTES: Final = 8190
HEADERS: Final = 100
_ASCII: Final = punctuation
"""Nothing of it is encoded."""


@dataclass(frozen=True)
class SendResult:
    """How an attempt ended. `retry_after` is the header as it came."""

    outcome: Outcome
    status_code: int | None
    retry_after: str | None
    milliseconds: int


class Sender:
    """Sends callbacks; `async with` closes it. Each attempt has a connection of its own."""

    def __init__(
        self,
        allow_insecure: bool,
        *,
        lookup: Lookup = system_lookup,
        seconds: float = ATTEMPT_SECONDS,
        certificates: SSLContext | None = None,
        trace_configs: Sequence[TraceConfig] = (),
    ) -> None:
        self._allow_insecure = allow_insecure
        self.seconds = seconds
        connector = TCPConnector(
            resolver=CheckingResolver(lookup, allow_insecure),
            socket_factory=partial(socket_to, allow_insecure=allow_insecure),
            use_dns_cache=False,
            force_close=True,
            limit=0,  # the dispatcher bounds them
            ssl=certificates or True,
        )
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None),  # one deadline for all: the one in `send`
            skip_auto_headers=("Accept-Encoding",),
            auto_decompress=False,
            trust_env=False,
            trace_configs=list(trace_configs),
            read_bufsize=BODY_BYTES,
            max_line_size=HEAD_BYTES,
            max_field_size=HEAD_BYTES,
            max_headers=HEADERS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_details: object) -> None:
        await self._session.close()

    async def send(self, message: Message) -> SendResult:
        """Makes one attempt, in `seconds` at most."""
        started = monotonic()
        outcome, status, retry_after = await self._attempt(message)
        return SendResult(outcome, status, retry_after, round((monotonic() - started) * 1000))

    def problem_of(self, url: str) -> str | None:
        """What is wrong with the text of a URL; what its name resolves to is checked when it is connected to."""
        return url_problem(url, allow_insecure=self._allow_insecure)

    async def _attempt(self, message: Message) -> tuple[Outcome, int | None, str | None]:
        if self.problem_of(message.url):
            return "refused", None, None
        try:
            async with asyncio.timeout(self.seconds):
                response = await self._session.post(
                    as_given(message.url), data=message.body, headers=message.headers, allow_redirects=False
                )
        except TimeoutError:
            return "timeout", None, None
        except (ClientError, OSError, ValueError) as error:
            return ("refused" if _refused(error) else "unreachable"), None, None
        await _discard(response)
        return outcome_of(response.status), response.status, response.headers.get("Retry-After")


def as_given(text: str) -> URL:
    """The URL with its path and query as the client wrote them: `%2f`, `/../` and `+` stay. Only characters that are
    not ASCII are encoded, and the host is normalized.
    """
    parts = urlsplit(text)
    path, query = (quote(part, safe=_ASCII) for part in (parts.path or "/", parts.query))
    normalized = URL(text)
    return URL.build(
        scheme=normalized.scheme, authority=normalized.raw_authority, path=path, query_string=query, encoded=True
    )


async def _discard(response: ClientResponse) -> None:
    """Reads a little of the body for a moment and closes the connection."""
    left = BODY_BYTES
    with suppress(ClientError, OSError, TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            while left > 0 and (chunk := await response.content.read(left)):
                left -= len(chunk)
    response.close()


def _refused(error: BaseException) -> bool:
    """Whether the cause is our own refusal, however the HTTP client wraps it."""
    causes: list[BaseException | None] = [error, getattr(error, "os_error", None), error.__cause__]
    return any(isinstance(cause, ReceiverRefusedError) for cause in causes)
