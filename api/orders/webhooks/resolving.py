"""Names of callback addresses: a host in, the addresses to connect to out, or the refusal to go there.

A name is looked up once for an attempt, and the connection goes to what was found and checked then: an answer that
changes afterwards (DNS rebinding) changes nothing.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Final

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from api.orders.webhooks.addresses import Address, is_global

Lookup = Callable[[str], Awaitable[list[Address]]]
MOST_ADDRESSES: Final = 64
"""More than any honest name has; each could be tried in turn."""


class ReceiverRefusedError(OSError):
    """The receiver has an address that is not on the public internet. An OSError, because it ends a connection."""


class CheckingResolver(AbstractResolver):
    """Finds a host's addresses and gives all of them or, where one is not global, none."""

    def __init__(self, lookup: Lookup, allow_insecure: bool) -> None:
        self._lookup = lookup
        self._allow_insecure = allow_insecure

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises ReceiverRefusedError for a name with an address that is not global, OSError for an unknown one."""
        found = await self._lookup(host)
        if not found or len(found) > MOST_ADDRESSES:
            message = f"the name has {len(found)} addresses"
            raise OSError(message)
        if not self._allow_insecure and not all(is_global(address) for address in found):
            raise ReceiverRefusedError("the name has an address that is not on the public internet")
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
        ]

    async def close(self) -> None:
        """Nothing is kept open."""


def socket_to(target: AddrInfoType, allow_insecure: bool) -> socket.socket:
    """The socket of a connection: whatever way led here, none is opened towards an address that is not global."""
    family, kind, protocol, _, place = target
    if not allow_insecure and not is_global(ip_address(str(place[0]))):
        raise ReceiverRefusedError("the address is not on the public internet")
    return socket.socket(family=family, type=kind, proto=protocol)


async def system_lookup(host: str) -> list[Address]:
    """The system's answer, each address once. Raises OSError for a name that has none.

    Each question has a thread of its own: the loop's few would all wait for one slow name server.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Address]] = loop.create_future()

    def settle(found: list[Address], error: OSError | None) -> None:
        if answer.done():  # nobody waits any more
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(found)

    def ask() -> None:
        found: list[Address] = []
        failed: OSError | None = None
        try:
            found = _addresses(host)
        except UnicodeError as error:
            failed = OSError(f"the name cannot be looked up: {error.reason if hasattr(error, 'reason') else error}")
        except OSError as error:
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, found, failed)

    threading.Thread(target=ask, name="callback-lookup", daemon=True).start()
    return await answer


def _addresses(host: str) -> list[Address]:
    found: dict[Address, None] = {}
    for family, _, _, _, place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM):
        if family == socket.AF_INET:
            found[IPv4Address(str(place[0]))] = None
        elif family == socket.AF_INET6:
            found[_with_scope(str(place[0]), place[3] if len(place) > 3 else 0)] = None
    return list(found)


def _with_scope(text: str, scope: int) -> IPv6Address:
    """An address of one link keeps its scope, by which it is known not to be global."""
    try:
        return IPv6Address(text if not scope or "%" in text else f"{text}%{scope}")
    except AddressValueError as error:
        message = f"the name server gave {text!r}, which is no address"
        raise OSError(message) from error
