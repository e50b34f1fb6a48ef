"""PostgreSQL's connections: of several hosts the one that takes orders, and what a pooler in between needs."""

import asyncio
import ssl
from contextlib import suppress
from typing import Any, Final

import asyncpg
from sqlalchemy.engine import URL

from mappings.transport.names import HostName

_NEXT_HOST: Final = (OSError, asyncpg.CannotConnectNowError, asyncpg.TargetServerAttributeNotMatched)


def connect_args(address: URL, connect_seconds: float, statement_seconds: float) -> tuple[URL, dict[str, Any]]:
    """The address without the options that asyncpg does not take as text, and the arguments in their place."""
    query = dict(address.query)
    arguments: dict[str, Any] = {
        "timeout": connect_seconds,
        "command_timeout": statement_seconds,
        "async_creator_fn": _Hosts(connect_seconds).connect,
    }
    if "sslrootcert" in query:
        context = ssl.create_default_context(cafile=str(query.pop("sslrootcert")))
        context.check_hostname = query.pop("ssl") == "verify-full"
        arguments["ssl"] = context
    if query.get("prepared_statement_cache_size") == "0":
        # A pooler such as PgBouncer may give each transaction another server connection. Statements without a name
        # last as long as they are needed and collide with nobody's.
        arguments |= {"statement_cache_size": 0, "prepared_statement_name_func": str}
    return address.set(query=query), arguments


class _Hosts:
    """Connects to the first host that can be used, beginning with the last one that could.

    asyncpg has one time limit for all hosts, which a first one that drops packets would use up.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last: tuple[str, int] | None = None
        self._names: dict[str, HostName] = {}

    async def connect(self, *, host: Any = None, port: Any = None, **options: Any) -> Any:
        """As asyncpg.connect; raises the last host's error."""
        if not isinstance(host, list):
            return await self._connect_to(host, port, options)
        hosts = sorted(zip(host, port, strict=True), key=lambda each: each != self._last)
        options["timeout"] = self._seconds / len(hosts)
        for name, number in hosts[:-1]:
            with suppress(*_NEXT_HOST):
                return await self._connect_to(name, number, options)
        return await self._connect_to(*hosts[-1], options)

    async def _connect_to(self, host: Any, port: Any, options: dict[str, Any]) -> Any:
        if isinstance(host, str) and not host.startswith("/"):
            # asyncpg looks the name up in the event loop's few threads: none waits there for a name server
            async with asyncio.timeout(options["timeout"]):
                await self._names.setdefault(host, HostName(host, port)).addresses(stale=False)
        connection = await asyncpg.connect(host=host, port=port, **options)
        self._last = (host, port)
        return connection
