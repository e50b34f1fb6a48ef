"""`gear-api mcp`: search, suggestions, items, prices and sandbox orders as tools of a language model, over stdio."""

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mcp.server import MCPServer

TIMEOUT_SECONDS = 30.0
MAX_HITS = 20


@click.command("mcp")
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="Where the API answers.")
@click.option("--token", envvar="GEAR_TOKEN", required=True, help="A token with the scope search; default: GEAR_TOKEN.")
@click.option("--orders", is_flag=True, help="Place orders too; sandbox items alone.")
@click.option("--real-orders", is_flag=True, help="Place orders of real items too: the model can spend money.")
def serve_mcp(url: str, token: str, orders: bool, real_orders: bool) -> None:
    """Serve the API to a language model by the Model Context Protocol, over stdin and stdout.

    It needs the extra `mcp`: pip install '.[mcp]' in the checkout.

    Example: gear-api mcp --url https://gear.example.com
    """
    try:
        server = build_server(url, token, orders=orders or real_orders, real_orders=real_orders)
    except ImportError:
        raise click.ClickException("the MCP SDK is not installed: pip install '.[mcp]' in the checkout") from None
    server.run()


def build_server(url: str, token: str, *, orders: bool, real_orders: bool) -> "MCPServer[Any]":
    """The tools, each one call of the API; raises ImportError without the SDK."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server: MCPServer[Any] = MCPServer(
        "gear",
        instructions="Finds single in-game items on offer (skins, knives, stickers) with their price and wear float.",
    )

    @server.tool()
    async def search(
        query: str = "", platform: int | None = None, filters: dict[str, Any] | None = None, sort: str | None = None
    ) -> dict[str, Any]:
        """Items that match a text as buyers write it (`ak redline ft under 50`) and `filters` as in `POST
        /v1/gear/search`: `{"weapon": ["AK-47"], "price": {"max": 50}, "float": {"max": 0.07}}`. Says how the text was
        understood. `total` is exact; at most 20 items are shown.
        """
        body = {"query": query, "platform": platform, "filters": filters, "sort": sort, "limit": MAX_HITS}
        return await _call(url, token, "POST", "/v1/gear/search", {**body, "explain": bool(query.strip()) or None})

    @server.tool()
    async def suggest(text: str) -> dict[str, Any]:
        """Names, weapons, finishes, collections and stickers that begin with a text."""
        return await _call(url, token, "GET", "/v1/gear/suggest", parameters={"q": text})

    @server.tool()
    async def item(item_id: str, platform: str | None = None) -> dict[str, Any]:
        """One item by its id, and whether it is on offer."""
        parameters = {} if platform is None else {"platform": platform}
        return await _call(url, token, "GET", f"/v1/gear/{int(item_id)}", parameters=parameters)

    @server.tool()
    async def prices(query: str, platform: int | None = None) -> dict[str, Any]:
        """What the names that match a text cost: for each its offers, lowest and highest price, floats."""
        body = {"query": query, "platform": platform, "groupBy": "name", "limit": MAX_HITS}
        return await _call(url, token, "POST", "/v1/gear/search", body)

    async def is_of_sandbox(item_id: str, platform: str) -> bool:
        """Whether the id is negative, as those of the sandbox are, and no real item has it."""
        if not item_id.startswith("-"):
            return False
        try:
            await _call(url, token, "GET", f"/v1/gear/{int(item_id)}", parameters={"platform": platform})
        except ToolError as error:
            return bool(json.loads(str(error))["code"] == "item_not_found")
        return False

    if orders:

        @server.tool()
        async def order(item_id: str, account: str, email: str, platform: str, expected_price: float) -> dict[str, Any]:
            """Orders an item, unless its price has moved. Sandbox items have negative ids: `-10` is completed."""
            if not real_orders and not await is_of_sandbox(item_id, platform):
                raise ToolError("only sandbox items may be ordered, and this is none")
            body = {"account": account, "email": email, "platform": platform, "item": item_id}
            return await _call(url, token, "POST", "/v1/gear", {**body, "expectedPrice": expected_price})

    return server


async def _call(
    url: str,
    token: str,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    *,
    parameters: dict[str, str] | None = None,
) -> dict[str, Any]:
    """One call of the API; raises ToolError with the error of its envelope, as JSON that the model can act on."""
    import aiohttp
    from mcp.server.mcpserver.exceptions import ToolError

    headers = {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with (
        aiohttp.ClientSession(base_url=url, headers=headers, timeout=timeout) as session,
        session.request(method, path, json=body, params=parameters) as response,
    ):
        content: dict[str, Any] = json.loads(await response.read())
    if content["status"] == "error":
        raise ToolError(json.dumps(content["error"], ensure_ascii=False))
    return content
