"""Checks that the status and code of every answer are in the app's OpenAPI description."""

import re
from collections.abc import Awaitable, Callable

import httpx
from fastapi import FastAPI


def only_described(app: FastAPI) -> Callable[[httpx.Response], Awaitable[None]]:
    """A response hook: fails for an answer of an operation that its description does not name."""
    operations = {
        (method.upper(), re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))): operation["responses"]
        for path, methods in app.openapi()["paths"].items()
        for method, operation in methods.items()
    }

    async def check(response: httpx.Response) -> None:
        if response.status_code == 405:  # no operation: nothing describes it
            return
        request = response.request
        for (method, path), responses in reversed(operations.items()):
            if method == request.method and path.fullmatch(request.url.path):
                described = responses.get(str(response.status_code)) or responses.get(response.status_code)
                assert described is not None, f"{method} {request.url.path} answers {response.status_code}"
                await response.aread()
                if response.is_error:
                    code = response.json()["error"]["code"]
                    assert code in described["content"]["application/json"]["examples"], f"{request.url.path}: {code}"
                return

    return check
