"""The early refresh: how far a load has read in; the engine told once, near the end, to write out what it holds.

The engine keeps in memory what it is sent. The refresh that ends a load writes that out, on one of its cores, while
everything waits. Most of it can be written while the last items are still on their way.
"""

import threading
from functools import partial

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

# What is left to send then. It takes an engine about as long as writing out twice as much.
LAST_BYTES = 48 * 1024 * 1024


class EarlyRefresh:
    """Of one index, once; `size` is the bytes of all sources, None where that is not known: then there is none."""

    def __init__(self, client: OpenSearch, index: str, size: int | None) -> None:
        self._refresh = partial(client.indices.refresh, index=index)
        self._size = size

    def passed(self, position: int, sent: int) -> None:
        """So many bytes of the sources are read, and so many sent; begins the refresh in the background, or not."""
        if not self._size or sent < LAST_BYTES:  # few items: there is nothing to win
            return
        if sent * (self._size - position) <= LAST_BYTES * position:
            self._size = None
            threading.Thread(target=self._begin, name="early refresh", daemon=True).start()

    def _begin(self) -> None:
        try:
            self._refresh()
        except OpenSearchException:  # the refresh at the end says it, should that fail as well
            return
