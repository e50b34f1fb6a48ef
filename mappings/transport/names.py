"""Resolves host names, each in a thread of its own: a name server that does not respond delays nobody else.

An event loop has a few threads for all names, uvloop four. The name of a host that is gone can hold one for ten
seconds.
"""

import asyncio
import socket
import threading
from typing import Any, Final

AddressInfo = tuple[Any, ...]
"""As of `socket.getaddrinfo`: family, type, protocol, canonical name, address."""

STALE_SECONDS: Final = 0.25  # for which a lookup is waited for where an earlier one has responded


def look_up(host: str, port: int | None) -> asyncio.Future[list[AddressInfo]]:
    """What the system says of a name, for a stream; its failure is an OSError."""
    loop = asyncio.get_running_loop()
    response: asyncio.Future[list[AddressInfo]] = loop.create_future()
    response.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may be nobody's by then

    def settle(addresses: list[AddressInfo], error: OSError | None) -> None:
        if response.done():  # whoever wanted it was cancelled
            return
        if error is not None:
            response.set_exception(error)
        else:
            response.set_result(addresses)

    def resolve() -> None:
        addresses: list[AddressInfo] = []
        failure: OSError | None = None
        try:
            addresses = list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except UnicodeError as error:
            failure = OSError(f"the name cannot be looked up: {getattr(error, 'reason', error)}")
        except OSError as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, addresses, failure)

    threading.Thread(target=resolve, name="name-lookup", daemon=True).start()
    return response


class HostName:
    """One server's name, with at most one lookup at a time."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._lookup: asyncio.Future[list[AddressInfo]] | None = None
        self._last_addresses: list[AddressInfo] = []

    async def addresses(self, *, stale: bool) -> list[AddressInfo]:
        """Its addresses; with `stale` those from before where no name server responds (RFC 8767). Raises OSError."""
        if self._lookup is None or self._lookup.done():
            self._lookup = look_up(self._host, self._port)
        lookup = self._lookup
        await asyncio.wait([lookup], timeout=STALE_SECONDS if stale and self._last_addresses else None)
        if lookup.done():
            try:
                self._last_addresses = lookup.result()
            except socket.gaierror as error:
                if error.errno != socket.EAI_AGAIN or not (stale and self._last_addresses):
                    raise
        return self._last_addresses
