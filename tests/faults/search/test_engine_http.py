"""The API's connections to the engine, at the wire: every way in which a response can fail to come as it should.

Each case runs on both event loops: that of the tests, and the one that serves.
"""

import asyncio
import gc
import gzip
import time
from typing import Any

import pytest
from opensearchpy import OpenSearchWarning, exceptions

from mappings.transport.http import HttpClient
from tests.support.api.waiting import until
from tests.support.faults.engine_client import NEXT, TIMEOUT, Run, client_of, number_of, response, settle
from tests.support.faults.scripted_server import CLOSE, HANG, RESET, Response, ScriptedServer, scripted_server


def test_one_connection_serves_one_request_after_the_other(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[response(1)]]) as server, client_of(server) as client:
            assert [await number_of(client) for _ in range(5)] == [1] * 5
            assert server.connections == 1

    run(case())


def test_at_most_so_many_connections_are_open_at_once(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[0.01, response(1)]]) as server, client_of(server, connections=3) as client:
            assert await asyncio.gather(*(number_of(client) for _ in range(30))) == [1] * 30
            assert server.max_open == server.connections == 3

    run(case())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([response(1), CLOSE], id="closed after the response"),
        pytest.param([response(1), RESET], id="reset after the response"),
        pytest.param([response(1, "Connection: close\r\n"), HANG], id="closing was announced"),
        pytest.param([b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n", b'{"number":1}', CLOSE], id="1.0"),
        pytest.param([b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"number"', b":1}", CLOSE], id="eof"),
        pytest.param([response(1) + response(13)], id="a second response with the first"),
        pytest.param([response(1), 0.01, response(13)], id="a second response after the first"),
        pytest.param([response(1) + b"garbage"], id="garbage with the response"),
        pytest.param([response(1), 0.01, b"garbage"], id="garbage after the response"),
    ],
)
def test_a_connection_that_says_too_much_or_ends_is_not_used_again(run: Run, script: Response) -> None:
    async def case() -> None:
        async with scripted_server([script], [NEXT]) as server, client_of(server) as client:
            assert await number_of(client) == 1
            await settle()
            assert [await number_of(client) for _ in range(3)] == [2, 2, 2]
            assert server.connections == 2

    run(case())


JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = JSON_HEAD + b'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n{"num\r\n7\r\nber":1}\r\n0\r\nX-Trailer: 1\r\n\r\n'


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([CHUNKED], id="chunked"),
        pytest.param([CHUNKED[place : place + 1] for place in range(len(CHUNKED))], id="byte by byte"),
        pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n", response(1)], id="informational first"),
        pytest.param([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + response(1)], id="informational, at once"),
        pytest.param([response(1)[:20], 0.2, response(1)[20:]], id="slow head"),
        pytest.param([response(1)[:-5], 0.2, response(1)[-5:]], id="slow body"),
    ],
)
def test_a_response_may_come_in_any_parts(run: Run, script: Response) -> None:
    async def case() -> None:
        async with scripted_server([script]) as server, client_of(server) as client:
            assert [await number_of(client) for _ in range(2)] == [1, 1]
            assert server.connections == 1

    run(case())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([CLOSE], id="closed before a response"),
        pytest.param([RESET], id="reset before a response"),
        pytest.param([response(1)[:10], CLOSE], id="closed in the head"),
        pytest.param([response(1)[:-5], CLOSE], id="closed in the body"),
        pytest.param([response(1)[:-5], RESET], id="reset in the body"),
        pytest.param([CHUNKED[:-20], CLOSE], id="closed in a chunk"),
        pytest.param([CHUNKED[:-5], CLOSE], id="closed before the last chunk's end"),
        pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n", CLOSE], id="only informational"),
        pytest.param([b"SSH-2.0-OpenSSH_9.2\r\n", HANG], id="not HTTP"),
        pytest.param([JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", HANG], id="not a chunk"),
        pytest.param([JSON_HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", HANG], id="two lengths"),
        pytest.param([JSON_HEAD + b"Content-Length: -1\r\n\r\n", HANG], id="a negative length"),
        pytest.param([b"HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", HANG], id="another protocol"),
        pytest.param([JSON_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", HANG], id="not gzip"),
    ],
)
def test_a_broken_response_is_a_connection_error_before_the_timeout(run: Run, script: Response) -> None:
    async def case() -> None:
        async with scripted_server([script], [NEXT]) as server, client_of(server) as client:
            with pytest.raises(exceptions.ConnectionError) as error:
                await number_of(client)
            assert not isinstance(error.value, exceptions.ConnectionTimeout)
            assert await number_of(client) == 2

    run(case())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([HANG], id="nothing"),
        pytest.param([part for byte in response(1)[:60] for part in (bytes([byte]), 0.05)], id="a slow head"),
        pytest.param([response(1)[:-1], HANG], id="all but a byte"),
        pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n", HANG], id="only informational"),
    ],
)
def test_a_response_that_is_late_is_a_timeout_and_its_connection_is_closed(run: Run, script: Response) -> None:
    async def case() -> None:
        async with scripted_server([script], [NEXT]) as server, client_of(server) as client:
            started = time.monotonic()
            with pytest.raises(exceptions.ConnectionTimeout):
                await number_of(client)
            assert time.monotonic() - started > TIMEOUT * 0.9
            assert await number_of(client) == 2
            await until(lambda: server.open == 1)

    run(case())


def test_what_waits_for_a_connection_times_out_and_leaves_no_hole(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[HANG]], [NEXT]) as server, client_of(server) as client:
            holder = asyncio.create_task(number_of(client))
            await until(lambda: len(server.requests) == 1)
            short = {"request_timeout": TIMEOUT / 5}
            waiting = (client.search(index="x", body={}, params=dict(short)) for _ in range(4))
            responses = await asyncio.gather(*waiting, return_exceptions=True)
            assert {type(each) for each in responses} == {exceptions.ConnectionTimeout}
            holder.cancel()
            assert await asyncio.gather(*(number_of(client) for _ in range(5))) == [2] * 5
            assert len(server.requests) == 6

    run(case())


def test_a_cancelled_request_never_gives_its_answer_to_another(run: Run) -> None:
    """Cancelled at every stage: while it waits, connects, is sent, and while its answer comes."""

    async def case() -> None:
        slow: Response = [0.005, response(13)[:30], 0.005, response(13)[30:]]
        async with scripted_server([slow]) as server, client_of(server, connections=2) as client:
            for round_ in range(40):
                tasks = [asyncio.create_task(number_of(client)) for _ in range(4)]
                await asyncio.sleep(round_ / 2000)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            assert await asyncio.gather(*(number_of(client) for _ in range(6))) == [13] * 6

    run(case())


def test_a_cancelled_request_is_closed_for_the_engine_to_stop_its_work(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[HANG]], [NEXT]) as server, client_of(server) as client:
            task = asyncio.create_task(number_of(client))
            await until(lambda: len(server.requests) == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: server.open == 0)
            assert await number_of(client) == 2

    run(case())


def test_an_answer_before_the_end_of_the_request_is_taken_and_its_connection_is_not(run: Run) -> None:
    async def case() -> None:
        refusal = b'HTTP/1.1 413 x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"error":"big"}'[:-1]
        async with scripted_server([["unread", refusal, HANG]], [NEXT]) as server, client_of(server) as client:
            with pytest.raises(exceptions.TransportError) as error:
                await client.bulk(body=b"x" * 30_000_000)
            assert error.value.status_code == 413
            assert await number_of(client) == 2
            assert server.connections == 2

    run(case())


def test_large_bodies_go_both_ways(run: Run) -> None:
    async def case() -> None:
        content = b'{"number":1,"x":"%b"}' % (b"y" * 20_000_000)
        head = JSON_HEAD + b"Content-Length: %d\r\n\r\n" % len(content)
        async with scripted_server([[head, content]]) as server, client_of(server, timeout=20) as client:
            body = b'{"z":"%b"}\n' % (b"z" * 10_000_000)
            assert [await client.bulk(body=body) for _ in range(2)] == [content] * 2
            assert [sent for _, _, sent in server.requests] == [body] * 2
            assert server.connections == 1

    run(case())


def test_closing_ends_what_is_under_way(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[HANG]]) as server, client_of(server, connections=3) as client:
            tasks = [asyncio.create_task(number_of(client)) for _ in range(3)]
            await until(lambda: len(server.requests) == 3)
            await client.close()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(each) for each in ended} == {exceptions.ConnectionError}
            await until(lambda: server.open == 0)

    run(case())


def test_an_idle_connection_is_closed_after_a_while(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[response(1)]], [NEXT]) as server:
            host, port = server.url.removeprefix("http://").split(":")
            client = HttpClient(host, int(port), None, limit=1, idle_seconds=0.1)
            request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            bodies = [(await client.exchange(request)).body for _ in range(2)]
            await asyncio.sleep(0.15)
            bodies.append((await client.exchange(request)).body)
            assert bodies == [b'{"number":1}', b'{"number":1}', b'{"number":2}']
            await until(lambda: server.open == 1)
            await client.close()

    run(case())


def test_head_has_no_body_whatever_its_length_says(run: Run) -> None:
    async def case() -> None:
        heads = [[b"HTTP/1.1 %d x\r\nContent-Length: 500\r\n\r\n" % status] for status in (200, 404)]
        async with scripted_server([*heads, NEXT]) as server, client_of(server) as client:
            assert [await client.indices.exists(index="x") for _ in range(2)] == [True, False]
            assert await number_of(client) == 2
            assert server.connections == 1

    run(case())


def test_a_body_that_nobody_expects_is_not_taken_for_the_next_response(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[response(13)]], [NEXT]) as server, client_of(server) as client:
            assert await client.indices.exists(index="x")
            assert await number_of(client) == 2
            assert server.connections == 2

    run(case())


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, exceptions.RequestError),
        (401, exceptions.AuthenticationException),
        (403, exceptions.AuthorizationException),
        (404, exceptions.NotFoundError),
        (409, exceptions.ConflictError),
        (429, exceptions.TransportError),
        (503, exceptions.TransportError),
    ],
)
def test_a_refusal_is_the_librarys_error_with_what_the_engine_says(
    run: Run, status: int, error: type[exceptions.TransportError]
) -> None:
    async def case() -> None:
        content = b'{"error":{"type":"bad_thing","reason":"\xff"},"status":0}'
        head = b"HTTP/1.1 %d x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(content))
        html = b"HTTP/1.1 %d x\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<a/>" % status
        async with scripted_server([[head + content], [html], NEXT]) as server:
            async with client_of(server) as client:
                with pytest.raises(error) as refusal:
                    await number_of(client)
                assert (refusal.value.status_code, refusal.value.error) == (status, "bad_thing")
                info: Any = refusal.value.info
                assert info["error"]["reason"] == "\ufffd"
                with pytest.raises(error) as refusal:
                    await number_of(client)
                assert (refusal.value.status_code, refusal.value.error) == (status, "<a/>")
            assert server.connections == 1

    run(case())


def test_requests_carry_login_prefix_host_and_length(run: Run) -> None:
    async def case() -> None:
        async with scripted_server([[response(1)]]) as server:
            address = server.url.replace("http://", "http://shop:secret@") + "/proxy/"
            async with client_of(ScriptedServer(url=address)) as client:
                await client.search(index="x", body={"size": 0}, params={"request_cache": "true"})
                await client.indices.get(index="x")
            (_, head, body), (_, get, _) = server.requests
            lines = head.lower().split("\r\n")
            assert lines[0] == "post /proxy/x/_search?request_cache=true http/1.1"
            assert f"host: {server.url.removeprefix('http://')}" in lines
            assert "authorization: basic c2hvcdpzzwnyzxq=" in lines  # base64 of shop:secret, in lower case
            assert "content-type: application/json" in lines
            assert body == b'{"size":0}'
            assert not [line for line in lines if line.startswith("accept-encoding")]
            assert get.startswith("GET /proxy/x HTTP/1.1\r\n")
            assert "content-length" not in get.lower()

    run(case())


def test_compressed_bodies_are_read_where_they_come(run: Run) -> None:
    async def case() -> None:
        content = gzip.compress(b'{"number":1}')
        head = JSON_HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(content)
        async with scripted_server([[head + content]]) as server, client_of(server) as client:
            assert await number_of(client) == 1

    run(case())


def test_the_engines_warnings_are_raised(run: Run) -> None:
    async def case() -> None:
        warned = response(1, 'Warning: 299 OpenSearch-3.6.0 "first"\r\nWarning: 299 OpenSearch-3.6.0 "second"\r\n')
        async with scripted_server([[warned]]) as server, client_of(server) as client:
            with pytest.warns(OpenSearchWarning) as warnings:
                assert await number_of(client) == 1
            assert [str(warning.message) for warning in warnings] == ["first", "second"]

    run(case())


def test_a_read_is_tried_again_on_a_new_connection_where_retries_are_wanted(run: Run) -> None:
    async def case() -> None:
        scripts: list[list[Response]] = [[[response(1), RESET]], [[RESET]], [NEXT]]
        async with scripted_server(*scripts) as server, client_of(server, retries=1) as client:
            assert await number_of(client) == 1
            await settle()
            assert await number_of(client) == 2

    run(case())


def test_connecting_that_is_cancelled_leaves_no_socket(run: Run) -> None:
    """Whatever it waits for: a socket that is closed twice would take a descriptor from somebody else."""

    async def case() -> None:
        async with scripted_server([[response(1)]]) as server:
            port = int(server.url.rpartition(":")[2])
            for turns in range(30):
                client = HttpClient("127.0.0.1", port, None, limit=1)
                request = asyncio.create_task(client.exchange(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                request.cancel()
                await asyncio.gather(request, return_exceptions=True)
                await client.close()

    run(case())
    gc.collect()  # an unclosed socket is reported then, which fails the test
