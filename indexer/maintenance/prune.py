"""Prune: old generations and what interrupted loads have left are removed."""

from collections.abc import Callable
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.states import expired
from indexer.locking.lock import Lock
from mappings.definition import Definition
from mappings.names import generation_of

RETRY_SECONDS = 30.0


def prune(
    client: OpenSearch, alias: str, definition: Definition, keep: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Removes all but the `keep` newest finished generations, the serving one always among them.

    Unfinished generations and products without listings go too: no load runs beside this.
    """
    retry = RetryPolicy(RETRY_SECONDS)
    generations = Generations(client, alias, definition, retry)
    with Lock(client, alias, "prune", retry, say) as lock:
        states = generations.all()
        old = expired(states, keep, set())
        removed = [state.index for state in states if state.unfinished or state.index in old]
        for index in removed:
            generations.remove(index, lock.renew)
        for products in generations.products_without_listings():
            generations.remove(generation_of(products), lock.renew)
            removed.append(products)
    remaining = sorted(state.index for state in states if state.index not in removed)
    return {"alias": alias, "kept": remaining, "removed": removed}
