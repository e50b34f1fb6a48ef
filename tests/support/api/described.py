"""The description of an app goes in; a check comes out that every answer's status and code stand in it."""

import re
from collections.abc import Awaitable, Callable

import httpx
from fastapi import FastAPI


def only_described(app: FastAPI) -> Callable[[httpx.Response], Awaitable[None]]:
    """A response hook: fails for an answer of an operation that its description does not name."""
    operations = {
        (method.upper(), re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))): operation["responses"]
        for path, held in app.openapi()["paths"].items()
        for method, operation in held.items()
    }

    async def check(answer: httpx.Response) -> None:
        if answer.status_code == 405:  # no operation: nothing describes it
            return
        request = answer.request
        for (method, path), responses in reversed(operations.items()):
            if method == request.method and path.fullmatch(request.url.path):
                described = responses.get(str(answer.status_code)) or responses.get(answer.status_code)
                assert described is not None, f"{method} {request.url.path} answers {answer.status_code}"
                await answer.aread()
                if answer.is_error:
                    code = answer.json()["error"]["code"]
                    assert code in described["content"]["application/json"]["examples"], f"{request.url.path}: {code}"
                return

    return check
