"""Engine nodes that hang: left out after a few requests that they let wait, and tried again in the background.

A node that is lost does not refuse connections: it drops packets, or accepts and answers nothing. What tells it from
one that is slow is silence: it answers no request at all while one waits.
"""

import asyncio
import logging
import os
import socket
import ssl
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from opensearchpy import AIOHttpConnection, AsyncTransport, ConnectionPool, exceptions
from yarl import URL

from mappings.transport.http import CONNECT_SECONDS, HttpClient, HttpResponse

FIRST_TRY_SHARE: Final = 0.4  # of a call's time: then a read is sent to another node too
MAX_SILENCES: Final = 3  # in a row, before a node is left out
PROBE_SECONDS: Final = 1.0  # until a node is tried again, doubled each time it does not answer
MAX_PROBE_SECONDS: Final = 30.0
NO_RESPONSE: Final = ("N/A", "TIMEOUT", 502, 504)  # the client's own words, and those of a proxy without its node

log: Final = logging.getLogger("gear.engine")

OnChange = Callable[[str, int], None]
"""Is called with a node's address when it is left out or taken back, and with how many are left out now."""


@dataclass
class Exchange:
    """One request that is being observed: what it sends for the observer, and then its response."""

    headers: Mapping[str, str]
    response: HttpResponse | None = None


Observer = Callable[[str, str], AbstractContextManager[Exchange]]
"""Surrounds a request, given what it is, such as a `search`, and its node's address."""


class Node(AIOHttpConnection):
    """A node's connections, and when it last answered. Of the library's class it has settings, headers and TLS."""

    answered_at = 0.0
    silences = 0
    ejections = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._observer: Observer | None = options.get("observer")
        self._client = HttpClient(self.hostname, self.port, self._ssl_context, self._limit or 1)
        self._head = _lines(self.headers | {"host": URL(self.host).host_port_subcomponent or self.hostname})

    async def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # its name
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """As the library's; a connection that was not made in time raises ConnectionError: nothing was sent."""
        target = f"{self.url_prefix}{url}?{urlencode(params)}" if params else self.url_prefix + url
        head = self._head + _lines(headers) if headers else self._head
        started = time.monotonic()
        try:
            seconds = self.timeout if timeout is None else timeout
            response = await self._observed(url, method, target, head, body, seconds)
        except exceptions.ConnectionError as error:
            seconds = time.monotonic() - started
            self.log_request_fail(method, self.host + target, target, body, seconds, exception=error)
            raise
        seconds = time.monotonic() - started
        if response.status not in NO_RESPONSE:
            self.answered_at = time.monotonic()
            self.silences = 0
        self._raise_warnings([response.headers["warning"]] if "warning" in response.headers else ())
        facts = (method, self.host + target, target, body)
        if not (200 <= response.status < 300 or response.status in ignore):
            text = response.body.decode("utf-8", "replace")
            self.log_request_fail(*facts, seconds, response.status, text)
            self._raise_error(response.status, text, response.headers.get("content-type"))
        self.log_request_success(*facts, response.status, response.body, seconds)  # type: ignore[arg-type]  # logged as it is
        return response.status, response.headers, response.body

    async def _observed(
        self, url: str, method: str, target: str, head: str, body: bytes | None, seconds: float
    ) -> HttpResponse:
        if self._observer is None:
            return await self._exchange(method, target, head, body, seconds)
        with self._observer(_operation(url), self.host) as exchange:
            exchange.response = await self._exchange(method, target, head + _lines(exchange.headers), body, seconds)
            return exchange.response

    async def responds(self) -> bool:
        """Whether it answers now; what it says does not matter."""
        try:
            response = await self._exchange("HEAD", f"{self.url_prefix}/", self._head, None, CONNECT_SECONDS)
        except exceptions.ConnectionError:
            return False
        return response.status not in NO_RESPONSE

    async def close(self) -> None:
        await self._client.close()

    async def _exchange(self, method: str, target: str, head: str, body: bytes | None, seconds: float) -> HttpResponse:
        length = "" if body is None else f"content-length: {len(body)}\r\n"
        request = f"{method} {target} HTTP/1.1\r\n{head}{length}\r\n".encode() + (body or b"")
        try:
            async with asyncio.timeout(seconds):
                return await self._client.exchange(request, is_head=method == "HEAD")
        except TimeoutError as error:
            raise exceptions.ConnectionTimeout("TIMEOUT", f"no response within {seconds} s", error) from error
        except OSError as error:
            raise exceptions.ConnectionError("N/A", _reason(error, self.hostname), error) from error


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def _operation(url: str) -> str:
    """What a request is, such as `search` or `doc`: the first part of its path that is no name."""
    return next((part[1:] for part in url.split("/") if part.startswith("_")), "other")


def _reason(error: OSError, host: str) -> str:
    """Why there is no response, in the words of the blocking client."""
    if isinstance(error, socket.gaierror):
        return f"Failed to resolve '{host}' ({error})"
    if isinstance(error, ssl.SSLError) or not error.errno:
        return str(error)
    return f"Failed to establish a new connection: [Errno {error.errno}] {os.strerror(error.errno)}"


class NodePool(ConnectionPool):
    """The nodes of a cluster, without those that are left out; with all of them where none is left."""

    def __init__(self, connections: Any, *, on_change: OnChange | None = None, **options: Any) -> None:
        super().__init__(connections, **options)
        self._on_change = on_change
        self._probes: dict[Node, asyncio.Task[None]] = {}

    def get_connection(self) -> Node:
        """The next node, which is not the one that the running attempt avoids."""
        attempt = _running.get()
        nodes: list[Node] = self.connections or list(self.orig_connections)
        if len(nodes) > 1 and attempt.avoid is not None:
            nodes = [node for node in nodes if node is not attempt.avoid]
        attempt.node = self.selector.select(nodes)
        return attempt.node

    def mark_dead(self, connection: Node, now: float | None = None) -> None:
        """Leaves the node out until it answers a probe."""
        if connection not in self.connections:
            return
        self.connections.remove(connection)
        connection.ejections += 1
        self._probes[connection] = asyncio.create_task(self._probe(connection))
        self._changed(connection)

    def mark_live(self, connection: Node) -> None:
        """Notes that the node has answered a request; takes it back."""
        connection.ejections = 0
        if connection in self._probes:
            self._probes.pop(connection).cancel()
            self._take_back(connection)

    def note_silence(self, node: Node, since: float) -> bool:
        """Whether the node has answered nothing since then; it is left out after a few such times in a row."""
        if node.answered_at > since:
            return False
        node.silences += 1
        if node.silences >= MAX_SILENCES:
            self.mark_dead(node)
        return True

    async def stop(self) -> None:
        """Ends the probes; all connections are to be closed after it."""
        probes = list(self._probes.values())
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)
        self.connections = list(self.orig_connections)

    async def _probe(self, node: Node) -> None:
        pause = min(MAX_PROBE_SECONDS, PROBE_SECONDS * 2 ** (node.ejections - 1))
        while True:
            await asyncio.sleep(pause)
            try:
                if await node.responds():
                    break
            except Exception:
                log.exception("the probe of %s failed and is tried again; report it", node.host)
            pause = min(MAX_PROBE_SECONDS, 2 * pause)
        del self._probes[node]
        self._take_back(node)

    def _take_back(self, node: Node) -> None:
        node.silences = 0
        self.connections.append(node)
        self._changed(node)

    def _changed(self, node: Node) -> None:
        if self._on_change is not None:
            self._on_change(node.host, len(self._probes))


@dataclass
class _Attempt:
    """The node that a request was sent to, and one that it must not be sent to."""

    avoid: Node | None = None
    node: Node | None = None


_running: ContextVar[_Attempt] = ContextVar("attempt")


class FailoverTransport(AsyncTransport):
    """Sends a read that meets a silent node to another one too, within the same deadline."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._attempts: set[asyncio.Task[Any]] = set()

    async def perform_request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
        await self._async_call()  # makes the nodes
        pool = self.connection_pool
        if not isinstance(pool, NodePool):  # of one node
            return await super().perform_request(method, url, *args, **options)
        started, first = time.monotonic(), _Attempt()
        attempts = [self._start(first, method, url, *args, **options)]
        try:
            await asyncio.wait(attempts, timeout=self.kwargs["timeout"] * FIRST_TRY_SHARE)
            silent = not attempts[0].done() and first.node is not None and pool.note_silence(first.node, started)
            if silent and _is_read(method, url):
                attempts.append(self._start(_Attempt(avoid=first.node), method, url, *args, **options))
            # the other one goes on: a late response tells a slow node from one that hangs
            return await _first_response(attempts)
        except asyncio.CancelledError:
            for attempt in attempts:
                attempt.cancel()
            raise

    async def close(self) -> None:
        """Ends the probes and what still waits, and closes all connections."""
        attempts = list(self._attempts)
        for attempt in attempts:
            attempt.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)
        if isinstance(self.connection_pool, NodePool):
            await self.connection_pool.stop()
        await super().close()

    def _start(self, attempt: _Attempt, *args: Any, **options: Any) -> "asyncio.Task[Any]":
        task = asyncio.create_task(self._attempt(attempt, *args, **options))
        self._attempts.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._attempts.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may wait for it any more

    async def _attempt(self, attempt: _Attempt, *args: Any, **options: Any) -> Any:
        _running.set(attempt)  # for this task alone
        return await super().perform_request(*args, **options)


async def _first_response(attempts: Sequence["asyncio.Task[Any]"]) -> Any:
    """What the first node says that says anything; raises the last error where none does."""
    for ended in asyncio.as_completed(attempts):
        try:
            return await ended
        except exceptions.TransportError as error:
            if error.status_code not in NO_RESPONSE:
                raise
            last = error
    raise last


def _is_read(method: str, url: str) -> bool:
    return method in ("GET", "HEAD") or url.endswith(("/_search", "/_msearch", "/_mget"))
