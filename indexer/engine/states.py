"""States of generations: what serves, what is unfinished, what pruning removes. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from mappings.names import Generation, products_of

# While filling: nobody searches, so nothing is refreshed or copied. The same keys are put back before the swap.
LOADING_SETTINGS = {"refresh_interval": "-1", "auto_expand_replicas": "false", "number_of_replicas": 0}


@dataclass(frozen=True)
class ProductsState:
    """The index of products of a generation as the engine has it."""

    aliases: frozenset[str]
    fingerprint: str | None
    settings: dict[str, str]  # flat, below `index`


@dataclass(frozen=True)
class IndexState:
    """One generation as the engine has it."""

    generation: Generation
    serving: bool
    loading: bool
    fingerprint: str | None  # of the definition that it was made with, from its mapping
    version: int | None  # its load's start in microseconds since 1970; None where that has just made it
    owner: str  # of the lock under which it is filled; empty where no load has made it
    settings: dict[str, str]  # flat, below `index`
    products: ProductsState | None = None  # None where they are missing

    @property
    def unfinished(self) -> bool:
        """Whether it is being filled, or its load was interrupted before it was to serve."""
        return not self.serving and is_unfinished(self.loading, self.settings)

    @property
    def index(self) -> str:
        return self.generation.index

    @property
    def closed(self) -> bool:
        return is_closed(self.settings) or (self.products is not None and is_closed(self.products.settings))


def is_closed(settings: Mapping[str, Any]) -> bool:
    """Whether somebody closed an index: it answers nothing, and nothing can be asked of it but its settings."""
    return str(settings.get("verified_before_close")).lower() == "true"


def is_unfinished(loading: bool, settings: dict[str, Any]) -> bool:
    """Whether an index is set up for filling: by its alias, or by settings that are put back before every swap."""
    return loading or settings.get("refresh_interval") == LOADING_SETTINGS["refresh_interval"]


def expired(states: list[IndexState], keep: int, always: Collection[str]) -> list[str]:
    """The one rule for pruning: the finished generations that go, oldest first.

    Of `states`, oldest first, the `keep` newest stay; the serving ones and those of `always` are counted first.
    """
    finished = [state for state in states if not state.unfinished]
    remaining = {state.index for state in finished if state.serving or state.index in always}
    for state in reversed(finished):
        if len(remaining) < keep:
            remaining.add(state.index)
    return [state.index for state in finished if state.index not in remaining]


def loading_alias(index: str) -> str:
    """The alias that a generation has until it is finished."""
    return f"{index}-loading"


def swap_actions(alias: str, index: str, aliases: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    """What points both aliases to this generation alone and finishes it; nothing where that is so already.

    `aliases` are those of every index by its name. A generation without an index of products leaves theirs nowhere.
    """
    loading = loading_alias(index)
    return [
        *_pointing(alias, index, loading, aliases),
        *_pointing(products_of(alias), products_of(index), products_of(loading), aliases),
    ]


def _pointing(alias: str, index: str, loading: str, aliases: Mapping[str, Collection[str]]) -> list[dict[str, Any]]:
    own = aliases.get(index, ())
    removed = [(name, alias) for name, of_index in aliases.items() if alias in of_index and name != index]
    removed += [(index, loading)] if loading in own else []
    actions: list[dict[str, Any]] = [
        {"remove": {"index": name, "alias": of_index, "must_exist": True}} for name, of_index in removed
    ]
    if index in aliases and alias not in own:
        actions.append({"add": {"index": index, "alias": alias}})
    return actions
