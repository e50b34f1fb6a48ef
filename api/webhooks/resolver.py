"""Resolves the hosts of callbacks and refuses addresses that are not global.

An attempt looks a name up once, checks the addresses and connects to one of them, so a later response (DNS rebinding)
changes nothing.
"""

import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, ip_address
from typing import Final

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from api.webhooks.addresses import Address, is_global
from mappings.transport.names import look_up

Lookup = Callable[[str], Awaitable[list[Address]]]
MAX_ADDRESSES: Final = 64
"""More than any honest name has; the client tries each in turn."""


class ReceiverRefusedError(OSError):
    """The receiver has an address that is not on the public internet. An OSError, because it ends a connection."""


class CheckingResolver(AbstractResolver):
    """Resolves a host to all of its addresses or, where one is not global, to none."""

    def __init__(self, lookup: Lookup, allow_insecure: bool) -> None:
        self._lookup = lookup
        self._allow_insecure = allow_insecure

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises ReceiverRefusedError for a name with an address that is not global, OSError for an unknown one."""
        addresses = await self._lookup(host)
        if not addresses or len(addresses) > MAX_ADDRESSES:
            raise OSError(f"the name has {len(addresses)} addresses")
        if not self._allow_insecure and not all(is_global(address) for address in addresses):
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
            for address in addresses
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
    """The system's answer, each address once. Raises OSError for a name that has none."""
    addresses: dict[Address, None] = {}
    for *_, (text, _port, *flow_and_scope) in await look_up(host, None):
        # a link-local address has its scope, which marks it as not global
        scope = flow_and_scope[1] if flow_and_scope and "%" not in text else 0
        try:
            addresses[ip_address(f"{text}%{scope}" if scope else text)] = None
        except ValueError as error:
            raise OSError(f"the name server gave {text!r}, which is no address") from error
    return list(addresses)
