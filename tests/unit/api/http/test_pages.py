"""The description of the API is made once, beside other requests."""

import asyncio
import threading
from typing import Any

import orjson
import pytest
from starlette.requests import Request
from starlette.types import Scope

from api.app import create_app
from api.current_request import request_scope
from api.explore.page import assets
from api.http import pages
from api.settings import Settings
from tests.support.platforms import shared_platforms


async def test_the_description_is_made_once_and_keeps_no_request_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings(_env_file=None), shared_platforms())
    request = Request({"type": "http", "app": app})
    describe, threads, scopes = app.openapi, list[threading.Thread](), list[Scope | None]()

    def in_a_thread() -> dict[str, Any]:
        threads.append(threading.current_thread())
        scopes.append(request_scope.get())
        return describe()

    request_scope.set(request.scope)
    monkeypatch.setattr(app, "openapi", in_a_thread)
    first, second, overview = await asyncio.gather(
        pages.description(request, None), pages.description(request, None), pages.for_language_models(request, None)
    )
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
    assert scopes == [None], "what lasts keeps no request"
    assert first.body == second.body
    assert orjson.loads(first.body) == describe()
    assert "`POST /v1/gear/search`" in bytes(overview.body).decode()


def test_the_files_of_the_page_are_read_before_the_first_request() -> None:
    assets.cache_clear()
    create_app(Settings(_env_file=None, explore=True), shared_platforms())
    assert assets.cache_info().currsize == 1
