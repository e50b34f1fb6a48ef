"""`gear-api mcp` as a language model's program runs it: a process that speaks over stdin and stdout."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.described_examples import ITEM
from tests.support.app import new_token, serving, settings_for

if TYPE_CHECKING:
    from mcp import ClientSession

COMMAND = str(Path(sys.executable).parent / "gear-api")
ORDER = {"account": "a", "email": "a@example.com", "platform": "cs2", "expected_price": 10}


async def call(session: "ClientSession", tool: str, **arguments: Any) -> dict[str, Any]:
    """The API's answer to a tool's call."""
    response: dict[str, Any] = json.loads(await text_of(session, tool, arguments, is_error=False))
    return response


async def error_of(session: "ClientSession", tool: str, **arguments: Any) -> str:
    """What a tool's error says."""
    return await text_of(session, tool, arguments, is_error=True)


async def text_of(session: "ClientSession", tool: str, arguments: dict[str, Any], *, is_error: bool) -> str:
    result = await session.call_tool(tool, arguments)
    assert bool(result.is_error) == is_error, result
    (content,) = result.content
    return str(getattr(content, "text", ""))


@pytest.mark.parametrize("orders", [False, True], ids=["reads", "orders"])
async def test_a_model_searches_and_orders_in_the_sandbox_alone(
    opensearch_url: str, index_prefix: str, tmp_path: Path, orders: bool
) -> None:
    # half a second of a core, in each process that runs any tests
    from mcp import ClientSession, StdioServerParameters, stdio_client

    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    put_index(settings, CS2, [ITEM, simple_item(-77, 10, "AWP | Asiimov (Field-Tested)")])
    server = serving(settings)
    client = await asyncio.to_thread(server.__enter__)
    try:
        token = await new_token(settings.database_url, "search", "order", sandbox=True)
        arguments = ["mcp", "--url", str(client.base_url), *(["--orders"] if orders else [])]
        parameters = StdioServerParameters(command=COMMAND, args=arguments, env={"GEAR_TOKEN": token})
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            names = {tool.name for tool in (await session.list_tools()).tools}
            assert names == {"search", "suggest", "item", "prices"} | ({"order"} if orders else set())
            response = await call(session, "search", query="ak redline", filters={"price": {"max": 100}})
            assert (response["total"], response["gear"][0]["id"]) == (1, ITEM["id"])
            assert response["interpretation"]["filters"] == {"weapon": ["AK-47"]}
            assert (await call(session, "item", item_id=str(ITEM["id"])))["available"] is True
            assert (await call(session, "suggest", text="redl"))["suggestions"][0]["text"] == "Redline"
            assert (await call(session, "prices", query="redline"))["gear"][0]["offers"]["count"] == 1
            assert '"code": "validation_failed"' in await error_of(session, "search", sort="sideways")
            assert '"code": "item_not_found"' in await error_of(session, "item", item_id="404")
            if orders:
                assert (await call(session, "order", item_id="-10", **ORDER))["order"]["state"] == "created"
                for real in (str(ITEM["id"]), "-77"):
                    assert "only sandbox items" in await error_of(session, "order", item_id=real, **ORDER)
                moved = {**ORDER, "expected_price": 11}
                assert '"code": "price_changed"' in await error_of(session, "order", item_id="-10", **moved)
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)
