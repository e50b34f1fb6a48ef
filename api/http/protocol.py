"""The server's HTTP protocol: the error envelope for malformed requests, and limits of connections and heads."""

import asyncio
import re
from http import HTTPStatus
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api import current_request
from api.current_request import Arrival
from api.errors import ERRORS, ApiError
from api.http.admission import Admission, budget_of
from api.http.connections import ConnectionLimit
from api.http.drain import Drain
from api.http.error_handlers import response_of
from api.http.request_id import accepted_id, new_request_id, request_id

# The request line and all headers; proxies allow 8 to 32 KiB. The server notices it after the read that exceeds it.
MAX_HEAD_BYTES = 65_536
MAX_TARGET_BYTES = 8_192
# After a deadline the socket is read once more: a busy server may not have read yet what arrived in time.
LAST_READ_SECONDS = 0.05
_SEARCH = b"POST /v1/gear/search HTTP/1.1\r\n"
# What a refusal has to heed: how long the body is, which id the client gave, and nothing that says more of the framing.
_LENGTH = re.compile(rb"\r\ncontent-length([^\r\n]*)", re.IGNORECASE)
_NUMBER = re.compile(rb": ?([0-9]{1,9})")
_IDENTITY = re.compile(rb"\r\nx-request-id: ?([^\r\n]*)", re.IGNORECASE)
_FRAMING = re.compile(rb"\r\n(?:transfer-encoding|connection|expect|upgrade)|\r\n[ \t]|[^\r]\n", re.IGNORECASE)
_HOST = re.compile(rb"[A-Za-z0-9._~%!$&'()*+,;=:\[\]-]*")


class GearProtocol(HttpToolsProtocol):
    """uvicorn's protocol; `head_seconds` limits the time until a request's head is complete, `write_seconds` how long
    a client may take no byte of a response that waits for it.
    """

    head_seconds = 20.0
    write_seconds = 20.0
    refusal_seconds = 1.0  # for the first bytes on a connection that is one too many

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _is_excess = False
    _is_in_message = False
    _request: "AdmittedRequest | None" = None
    _is_parsing = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        """Starts the timer of the first request's head."""
        super().connection_made(transport)
        limit: ConnectionLimit = self.app_state["connections"]
        self._is_excess = limit.is_exceeded(len(self.connections))
        if self._is_excess and limit.is_far_exceeded(len(self.connections)):
            transport.abort()
        else:
            self._start_timer(self.refusal_seconds if self._is_excess else self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timers, and the work whose client has gone."""
        self._stop_timer()
        self.resume_writing()
        super().connection_lost(exc)
        if self._request is not None:
            self._request.abandon()

    def data_received(self, data: bytes) -> None:
        """Parses the bytes, and counts those of a head."""
        if self._is_excess:  # refused only now: a client reads no response before it has sent its request
            self._close_with(ApiError("overloaded", "too many connections are open"))
            return
        if self._refuse_unread(data):
            return
        before, self._is_parsing = self._request, True
        try:
            super().data_received(data)
        finally:
            self._is_parsing = False
        if self._request is not None and self._request is not before and not self.transport.is_closing():
            self._request.submit()
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                if len(self.url) > MAX_TARGET_BYTES:
                    self._close_with(ApiError("uri_too_long"))
                else:
                    self.send_400_response(f"the request line and headers are larger than {MAX_HEAD_BYTES:,} bytes")

    def pause_writing(self) -> None:
        """Called by the event loop where a client takes less than it is sent; closes the connection if that lasts."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        """Starts the timer of a further request's head."""
        super().on_message_begin()
        self._is_in_message = True
        self._start_timer(self.head_seconds)
        self._unset_keepalive_if_required()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Sends the error envelope and closes the connection."""
        self._close_with(ApiError("bad_request", msg))

    def on_message_complete(self) -> None:
        """Counts the time that is left from the end of the body: how long that takes is up to the client."""
        super().on_message_complete()
        self._is_in_message = False
        if self._request is not None:
            self._request.arrival.at = self.loop.time()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        scope = cast("Scope", cycle.scope)
        error = _refusal_of(scope)
        if error is not None:
            cycle.keep_alive = False
            self.refuse(cycle, error)
            return
        drain: Drain = self.app_state["drain"]
        if drain.is_draining:  # the client's next request goes to a server that stays
            cycle.keep_alive = False
        admission: Admission = self.app_state["admission"]
        self._request = AdmittedRequest(self, cycle, app, admission)
        if not self._is_parsing:  # else its body may be in the same bytes
            self._request.submit()

    def run(self, request: "AdmittedRequest") -> asyncio.Task[None]:
        task = self.loop.create_task(request.cycle.run_asgi(cast("Any", request)))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        return task

    def refuse(self, cycle: RequestResponseCycle, error: ApiError) -> None:
        """Answers a request without starting it; what comes of its body is dropped."""
        cycle.response_started = cycle.response_complete = True
        # a client that was not told to go on may send its body or not
        close = not cycle.keep_alive or cycle.waiting_for_100_continue
        scope = cast("Scope", cycle.scope)
        self._write(error, request_id(scope), close=close, has_body=scope["method"] != "HEAD")
        if not close:
            self._read_on(self.app_state["admission"])

    def _refuse_unread(self, data: bytes) -> bool:
        """Refuses a search that finds its budget full without parsing it, which costs most of a refusal.

        Only where the data is one whole request and nothing before it is under way; anything else takes the long way.
        """
        admission: Admission = self.app_state["admission"]
        budget = admission.budgets["search"]
        if not budget.is_full or not data.startswith(_SEARCH) or not self._is_between_requests:
            return False
        head = data[: data.find(b"\r\n\r\n")]
        lengths = _LENGTH.findall(head)
        length = _NUMBER.fullmatch(lengths[0]) if len(lengths) == 1 else None
        if length is None or len(data) != len(head) + 4 + int(length[1]) or _FRAMING.search(head):
            return False
        self._stop_timer()
        self._unset_keepalive_if_required()
        offered = _IDENTITY.findall(head)
        identity = accepted_id(offered[0].decode("latin-1") if len(offered) == 1 else "")
        budget.count_refusal()
        self._write(ApiError("overloaded"), identity, close=False, has_body=True)
        self._read_on(admission)
        return True

    @property
    def _is_between_requests(self) -> bool:
        drain: Drain = self.app_state["drain"]
        is_idle = self.cycle is None or (self.cycle.response_complete and not self.pipeline)
        return is_idle and not (self._is_in_message or self.transport.is_closing() or drain.is_draining)

    def _read_on(self, admission: Admission) -> None:
        """Reads the next request of a connection after a refusal: at once, or later where refusals are many."""
        if seconds := admission.refusals.hold_seconds():
            self.flow.pause_reading()
        self.loop.call_later(seconds, self.on_response_complete)

    def _close_with(self, error: ApiError) -> None:
        self._stop_timer()
        self._write(error, new_request_id(), close=True, has_body=True)

    def _write(self, error: ApiError, identity: str, *, close: bool, has_body: bool) -> None:
        if error.code != "overloaded" or error.message or close or not has_body or len(identity) != len(_SAMPLE_ID):
            self.transport.write(_raw_response(error, identity, close=close, has_body=has_body))
        else:
            self.transport.write(_OVERLOADED.replace(_SAMPLE_ID, identity.encode()))
        if close:
            self.transport.close()

    def _unset_keepalive_if_required(self) -> None:
        """Called by the server for all that comes. Blank lines and the rest of a body that nobody reads begin no
        request, so they do not end the wait for the next one.
        """
        if not self._is_parsing or self._head_timer is not None:
            super()._unset_keepalive_if_required()

    def _unsupported_upgrade_warning(self) -> None:
        """Logs nothing: the request is answered as if it asked for no upgrade, and anybody may send one."""

    def _start_timer(self, seconds: float) -> None:
        if self._head_timer is None:
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(seconds, self._last_read)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _last_read(self) -> None:
        self._head_timer = self.loop.call_later(LAST_READ_SECONDS, self._head_timed_out)

    def _head_timed_out(self) -> None:
        if self.transport.is_closing():
            return
        if not self._head_bytes:  # idle: a proxy would take an error for the response to its next request
            self._stop_timer()
            self.transport.close()
            return
        self.send_400_response(f"the request line and headers did not arrive within {self.head_seconds:.0f} seconds")


class AdmittedRequest:
    """A request between its head and its response, as admission sees it."""

    def __init__(self, protocol: GearProtocol, cycle: RequestResponseCycle, app: ASGIApp, admission: Admission) -> None:
        self.cycle = cycle
        self.arrival = Arrival(protocol.loop.time())
        self._protocol = protocol
        self._app = app
        self._admission = admission
        self._budget = budget_of(cycle.scope["method"], cycle.scope["path"])
        self._current_budget: str | None = None  # the budget in which it has a place
        self._task: asyncio.Task[None] | None = None
        self._started_at = 0.0

    @property
    def is_abandoned(self) -> bool:
        return self.cycle.disconnected

    def submit(self) -> None:
        """Starts, waits, or is refused. While its body is on the way it has a place among such requests alone: how long
        that takes is up to the client.
        """
        is_unread = self.cycle.more_body and self._budget in ("search", "order")
        self._current_budget = "body" if is_unread else self._budget
        self._admission.budgets[self._current_budget].submit(self)

    def start(self) -> None:
        self._started_at = self._protocol.loop.time()
        self._task = self._protocol.run(self)
        self._task.add_done_callback(lambda _: self._release())

    def refuse(self) -> None:
        self._current_budget = None
        self._protocol.refuse(self.cycle, ApiError("overloaded"))

    def abandon(self) -> None:
        """Stops a search whose client has gone; an order goes on."""
        if self._task is not None and self._budget in ("search", "export", "feed") and self.cycle.disconnected:
            self._task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the app with the time that is left."""

        async def receive_admitted() -> Message:
            message = await receive()
            if self._current_budget == "body" and not message.get("more_body", False):
                await self._read()
            return message

        async def send_released(message: Message) -> None:
            if message["type"] == "http.response.start" and self._budget != "feed":
                self._release()  # the work is done: how long the response takes is up to the client
            await send(message)

        current_request.start(self.arrival)
        try:
            await self._app(scope, receive_admitted, send_released)
        except asyncio.CancelledError:
            if self.cycle.response_started:
                raise
            if not self.cycle.disconnected:
                self.cycle.keep_alive = False
                self._protocol.refuse(self.cycle, ApiError("overloaded", "the server is stopping"))

    async def _read(self) -> None:
        """The body is there: takes a place in the request's own budget; raises ApiError `overloaded`."""
        self._release()
        await self._admission.budgets[self._budget].acquire()
        self._current_budget = self._budget
        self._started_at = self._protocol.loop.time()

    def _release(self) -> None:
        current_budget, self._current_budget = self._current_budget, None
        if current_budget is None:
            return
        if current_budget == self._budget and not self.cycle.disconnected:
            now = self._protocol.loop.time()
            self._admission.add_sample(self._budget, now, now - self._started_at)
        self._admission.budgets[current_budget].release()


def _raw_response(error: ApiError, identity: str, *, close: bool, has_body: bool) -> bytes:
    response = response_of(error, identity)
    status = ERRORS[error.code][0]
    head = [
        b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode()),
        *(b"%b: %b" % pair for pair in response.raw_headers),
        b"x-content-type-options: nosniff\r\ncache-control: no-store",
        b"connection: close\r\n\r\n" if close else b"\r\n",
    ]
    return b"\r\n".join(head) + (bytes(response.body) if has_body else b"")


# made once: refusals are the more frequent the less time there is
_SAMPLE_ID = b"0123456789abcdef0123456789abcdef"
_OVERLOADED = _raw_response(ApiError("overloaded"), _SAMPLE_ID.decode(), close=False, has_body=True)


def _refusal_of(scope: Scope) -> ApiError | None:
    """Why a request is refused for its head (RFC 9112, 3.2)."""
    query = scope["query_string"]
    if len(scope["raw_path"]) + len(query) + bool(query) > MAX_TARGET_BYTES:  # with the `?`
        return ApiError("uri_too_long")
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or (not hosts and scope["http_version"] != "1.0"):
        return ApiError("bad_request", f"send one Host header, not {len(hosts)}")
    if hosts and not _HOST.fullmatch(hosts[0]):
        return ApiError("bad_request", "the Host header names no host")
    return None
