"""The command `gear-api serve` over a real wire: what only HTTP itself can get wrong."""

import gzip
import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.support.api.catalogue import PRICED, PRICELESS
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp

JSON = {"Content-Type": "application/json"}


def test_it_serves_what_the_app_answers(served: httpx.Client) -> None:
    response = served.post("/v1/gear/search", json={"filters": {"ids": [PRICELESS]}})  # no other test can order it
    assert (response.status_code, response.json()["total"]) == (200, 1)
    assert "Server" not in response.headers


def chunks(size: int) -> Iterator[bytes]:
    yield b"{}"
    for _ in range(size // 1000):
        yield b" " * 1000


@pytest.mark.parametrize("path", ["/v1/gear/search", "/v1/gear"])
def test_a_body_in_chunks_is_refused_once_it_is_too_large(served: httpx.Client, path: str) -> None:
    assert served.post(path, content=chunks(60_000), headers=JSON).status_code in (200, 422)
    error_of(served.post(path, content=chunks(70_000), headers=JSON), "body_too_large")


@pytest.mark.parametrize("path", ["/v1/gear/search", "/v1/gear"])
def test_a_body_declared_too_large_is_refused_without_being_read(served: httpx.Client, path: str) -> None:
    response = exchange(
        served, path, f"Authorization: {served.headers['Authorization']}", "Content-Length: 99999999999"
    )
    assert response.startswith("HTTP/1.1 413 ")
    assert '"code":"body_too_large"' in response
    assert "connection: close" in response.lower()


def test_without_a_token_a_body_is_not_waited_for(served: httpx.Client) -> None:
    response = exchange(served, "/v1/gear/search", "Content-Length: 60000")
    assert response.startswith("HTTP/1.1 401 ")


def exchange(served: httpx.Client, path: str, *headers: str) -> str:
    """What is answered to the head of a POST whose body never comes, up to the end of the envelope."""
    url = served.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=30) as wire:
        lines = [f"POST {path} HTTP/1.1", f"Host: {url.host}", "Content-Type: application/json", *headers, "", ""]
        wire.sendall("\r\n".join(lines).encode())
        response = b""
        while b"requestId" not in response:
            part = wire.recv(65_536)
            if not part:
                break
            response += part
    return response.decode()


@pytest.mark.parametrize("path", ["/v1/platforms", "/health/live", f"/v1/gear/{PRICED}"])
def test_head_has_no_body_and_leaves_the_connection_usable(served: httpx.Client, path: str) -> None:
    head, get = served.head(path), served.get(path)
    assert (head.status_code, head.content, get.status_code) == (200, b"", 200)
    assert int(head.headers["Content-Length"]) == len(get.content)


@pytest.mark.parametrize("path", ["/v1/gear/search", "/v1/gear"])
def test_a_compressed_body_is_not_taken(served: httpx.Client, path: str) -> None:
    response = served.post(path, content=gzip.compress(b"{}"), headers={**JSON, "Content-Encoding": "gzip"})
    assert "gzip" in error_of(response, "unsupported_media_type")["message"]
    assert served.post(path, content=b"{}", headers={**JSON, "Content-Encoding": "Identity"}).status_code in (200, 422)


def test_headers_say_what_browsers_and_caches_must_not_do(served: httpx.Client) -> None:
    for response in (served.get("/v1/orders"), served.get("/nowhere"), served.get("/docs")):
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert served.get("/docs").headers["Referrer-Policy"] == "no-referrer"
    assert served.get("/docs/swagger-ui.css").headers["Cache-Control"] == "public, max-age=86400"
    assert len(served.get("/nowhere").headers.get_list("X-Request-Id")) == 1


def test_a_token_in_the_address_is_no_token(served: httpx.Client, app: RunningApp) -> None:
    response = served.get(f"/v1/platforms?access_token={app.token}", headers={"Authorization": ""})
    error_of(response, "unauthorized")
    assert app.token not in response.text


def test_the_page_of_the_description_is_open(served: httpx.Client) -> None:
    with httpx.Client(base_url=served.base_url) as anonymous:
        assert anonymous.get("/openapi.json").json()["openapi"].startswith("3.")
        page = anonymous.get("/docs")
        assert "text/html" in page.headers["Content-Type"]
        assert "//" not in page.text.replace("<!DOCTYPE html>", "")  # no address of anybody else
        for name in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png"):
            assert f"/docs/{name}" in page.text
            assert len(anonymous.get(f"/docs/{name}").content) > 1000
        error_of(anonymous.get("/docs/redoc.standalone.js"), "not_found")
        assert anonymous.get("/docs/favicon.png", headers={"Range": "bytes=none"}).status_code == 200
