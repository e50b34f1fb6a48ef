"""Request ids: a client's own is kept where it is harmless, else there is a new one; the log has it and no secrets."""

import pytest
from starlette.types import Message, Receive, Scope, Send
from structlog.testing import capture_logs

from api.http.request_id import RequestIdMiddleware, request_id
from api.telemetry.logs import add_request


def scope_with(offered: str | None) -> Scope:
    headers = [] if offered is None else [(b"x-request-id", offered.encode("latin-1"))]
    return {"type": "http", "method": "GET", "path": "/orders/secret", "headers": headers}


@pytest.mark.parametrize("offered", ["a", "A-Z_0.9", "x" * 64, "0f9a2c41-d7b8-4e0f"])
def test_a_clients_own_id_is_preserved(offered: str) -> None:
    assert request_id(scope_with(offered)) == offered


@pytest.mark.parametrize("offered", [None, "", "x" * 65, "a b", "a\n", "ä", '"', "a/b", "{}"])
def test_any_other_gives_a_new_one(offered: str | None) -> None:
    generated = request_id(scope_with(offered))
    assert generated != offered
    assert len(bytes.fromhex(generated)) == 16


def test_a_request_has_one_id_and_two_requests_have_two() -> None:
    scope = scope_with(None)
    assert request_id(scope) == request_id(scope)
    assert request_id(scope) != request_id(scope_with(None))


def uncounted(method: str, route: str | None, status: int, seconds: float) -> None:
    """Counts nothing."""


async def run(app: RequestIdMiddleware, scope: Scope) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


async def test_every_answer_has_its_id_once_and_a_log_line_without_the_path() -> None:
    async def response(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": [(b"x-request-id", b"other")]})
        await send({"type": "http.response.body", "body": b""})

    with capture_logs(processors=[add_request]) as lines:
        sent = await run(RequestIdMiddleware(response, uncounted), scope_with("mine"))
    assert sent[0]["headers"] == [
        (b"x-request-id", b"mine"),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    (line,) = lines
    assert (line["requestId"], line["status"], line["method"], line["route"]) == ("mine", 204, "GET", None)
    assert "secret" not in str(line)


async def test_a_fault_is_logged_as_500_and_goes_on() -> None:
    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        raise LookupError

    with capture_logs(processors=[add_request]) as lines, pytest.raises(LookupError):
        await run(RequestIdMiddleware(fail, uncounted), scope_with("mine"))
    assert [(line["requestId"], line["status"]) for line in lines] == [("mine", 500)]


async def test_what_is_not_http_passes_untouched() -> None:
    scopes: list[Scope] = []

    async def note(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(scope)

    await run(RequestIdMiddleware(note, uncounted), {"type": "lifespan"})
    assert scopes == [{"type": "lifespan"}]
