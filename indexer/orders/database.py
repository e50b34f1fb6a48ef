"""The orders' database as a command uses it: one session, with one event loop and one store, from first use to end."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from store.connection.address import database_address
from store.connection.engine import Store

Result = TypeVar("Result")


class OrdersDatabase(AbstractContextManager["OrdersDatabase"]):
    """A context; nothing is opened before the first use, and each transaction has a connection of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self._store: Store | None = None

    def __exit__(self, *_: object) -> None:
        try:
            if self._store is not None:
                self._runner.run(self._store.close())
        finally:
            self._runner.close()

    @property
    def is_missing(self) -> bool:
        """Whether it is a file that does not exist: then there are no orders, and opening it would make one."""
        address = database_address(self._url)
        return address.get_backend_name() == "sqlite" and not Path(address.database or "").exists()

    def run(self, work: Callable[[Store], Coroutine[Any, Any, Result]]) -> Result:
        """The result of some work on the store; raises what the work raises, StoreError above all."""
        if self._store is None:
            self._store = Store(self._url, connections=None)
        return self._runner.run(work(self._store))
