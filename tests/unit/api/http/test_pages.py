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


async def test_a_description_that_fails_is_made_anew_for_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings(_env_file=None), shared_platforms())
    request = Request({"type": "http", "app": app})
    with monkeypatch.context() as patch:
        patch.setattr(app, "openapi", dict)
        with pytest.raises(KeyError):
            await pages.description(request, None)
    assert orjson.loads((await pages.description(request, None)).body) == app.openapi()


async def test_a_request_for_the_description_that_goes_away_leaves_no_task_and_the_others_their_answer() -> None:
    app = create_app(Settings(_env_file=None), shared_platforms())
    request = Request({"type": "http", "app": app})
    before = asyncio.all_tasks()
    first, second = (asyncio.create_task(pages.description(request, None)) for _ in range(2))
    await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == {*before, first, second}
    first.cancel()
    assert orjson.loads((await second).body) == app.openapi()
    assert first.cancelled()


def test_the_files_of_the_page_are_read_before_the_first_request() -> None:
    assets.cache_clear()
    create_app(Settings(_env_file=None, explore=True), shared_platforms())
    assert assets.cache_info().currsize == 1
