"""Prune: old generations and what interrupted loads have left are removed."""

from collections.abc import Callable
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.loading.cleanup import remove_interrupted, remove_old
from indexer.locking.lock import Lock
from mappings.definition import Definition


def prune(
    client: OpenSearch,
    alias: str,
    definition: Definition,
    keep: int,
    say: Callable[[str], None],
    response: dict[str, Any],
) -> None:
    """Removes all but the `keep` newest finished generations, the serving one always among them.

    Unfinished generations and products without listings go too: no load runs beside this. `response` is filled, and
    true also after an error.
    """
    retry = RetryPolicy()
    generations = Generations(client, alias, definition, retry)
    removed: list[str] = []
    response.update(alias=alias, removed=removed)
    with Lock(client, alias, "prune", retry, say) as lock:
        removed += remove_old(generations, lock, keep)
        removed += remove_interrupted(generations, lock, say)
        response["kept"] = [state.index for state in generations.all()]
