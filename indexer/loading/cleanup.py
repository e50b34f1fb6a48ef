"""Removes generations that nobody needs: what interrupted loads have left, and old ones."""

from collections.abc import Callable, Collection, Iterator

from indexer.engine.generations import Generations
from indexer.engine.states import expired
from indexer.locking.lock import Lock
from mappings.names import generation_of


def remove_interrupted(
    generations: Generations, lock: Lock, say: Callable[[str], None], *, keep: str | None = None
) -> Iterator[str]:
    """Removes what was filled under other locks, but `keep`, and products without listings; yields each as it goes."""
    for state in generations.all():
        if state.unfinished and state.index != keep and state.owner != lock.owner.id:
            say(f"{state.index} is removed: its load was interrupted")
            generations.remove(state.index, lock.renew)
            yield state.index
    for products in generations.products_without_listings():
        say(f"{products} is removed: its listings are gone")
        generations.remove(generation_of(products), lock.renew)
        yield products


def remove_old(generations: Generations, lock: Lock, keep: int, always: Collection[str] = ()) -> Iterator[str]:
    """Removes all but the `keep` newest finished generations, as `expired`; yields each once it is gone."""
    for index in expired(generations.all(), keep, always):
        generations.remove(index, lock.renew)
        yield index
