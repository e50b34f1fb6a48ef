"""Leftovers: an alias's indices and a lock that is held in; what loads that died have left removed, its names out."""

from collections.abc import Callable

from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import Patience
from indexer.engine.tombstones import Deletes
from indexer.locking.lock import Lock


def remove_leftovers(
    client: OpenSearch,
    generations: Generations,
    lock: Lock,
    patience: Patience,
    say: Callable[[str], None],
    *,
    but: str | None = None,
) -> list[str]:
    """Removes every generation that was filled under another lock than this one, `but` one: its load has ended.

    What a version without locks has begun stays: its load may run.
    """
    removed = []
    for state in generations.all():
        if state.loading and not state.serving and state.index != but and state.owner not in (None, lock.owner.id):
            say(f"{state.index} is removed: the load that filled it has died")
            generations.remove(state.index)
            removed.append(state.index)
    for index in generations.stray_deletes():
        Deletes(client, index, patience).remove()
    return removed
