"""The profile: ticks and requests in, whose work it was and what was asked out."""

import http.client
import socket
import threading
from urllib.parse import urlsplit

import fastapi
import opensearchpy
import pytest

import api.search.query.request
from bench.profile import last_request, time_by_owner
from bench.profiled import owner
from bench.recorded import recording


def test_a_tick_is_of_the_library_or_the_module_whose_file_runs() -> None:
    assert owner(str(fastapi.__file__)) == "fastapi"
    assert owner(str(opensearchpy.__file__)) == "opensearchpy"
    assert owner(str(api.search.query.request.__file__)) == "api.search.query.request"
    assert owner(str(http.client.__file__)) == ""


def test_the_parts_of_a_search_are_all_of_it() -> None:
    found = time_by_owner({"fastapi": 3, "starlette": 1, "api.auth": 2, "unheard_of": 4}, 1000.0)
    assert found == {"framework (fastapi, starlette)": 400.0, "others": 400.0, "api.auth": 200.0}


@pytest.mark.parametrize("body", [b"{}", b'{"query": "POST is a word"}\n'])
def test_what_goes_through_is_passed_on_and_kept(body: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as engine:
        answering = threading.Thread(target=_answer_once, args=(engine, len(body)))
        answering.start()
        with recording(f"http://127.0.0.1:{engine.getsockname()[1]}") as recorder:
            connection = http.client.HTTPConnection("127.0.0.1", urlsplit(recorder.address).port, timeout=30)
            connection.request("POST", "/_msearch?a=1", body)
            assert connection.getresponse().read() == b"ok"
            connection.close()
            assert last_request(recorder.taken()) == ("/_msearch?a=1", body)
            assert recorder.taken() == b""
        answering.join()


def _answer_once(engine: socket.socket, expected: int) -> None:
    connection, _ = engine.accept()
    with connection:
        held = b""
        while len(held.partition(b"\r\n\r\n")[2]) < expected:
            held += connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
