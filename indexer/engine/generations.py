"""Generations: an alias in, its indices with their state out, and the calls that make, check, swap and remove them.

A generation that is being filled, or was left behind by a load that died, carries an alias of its own,
`<index>-loading`. The load writes through it, so that no late request can make an index, and status can tell what is
unfinished.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from indexer.engine.drift import at_creation, same, wanted_settings
from indexer.engine.failures import CommandError
from indexer.engine.retry import Patience
from mappings.definition import Definition
from mappings.names import Generation, generation_pattern, parse_generation

# While filling: nobody searches, so nothing is refreshed or copied. The same keys are put back before the swap.
LOADING_SETTINGS = {"refresh_interval": "-1", "auto_expand_replicas": "false", "number_of_replicas": 0}


@dataclass(frozen=True)
class IndexState:
    """One generation as the engine has it."""

    generation: Generation
    serving: bool
    loading: bool
    fingerprint: str | None  # of the definition that it was made with, from its mapping
    version: int | None  # its load's start in microseconds since 1970; None where that has just made it
    owner: str | None  # of the lock under which it is filled; None for what older versions filled
    remembers: bool  # deletes are recorded beside it: see indexer/engine/tombstones.py
    settings: dict[str, str]  # flat, below `index`

    @property
    def unfinished(self) -> bool:
        """Whether it is being filled, or its load has died before it was to serve."""
        return not self.serving and (self.loading or self.settings.get("refresh_interval") == "-1")

    @property
    def index(self) -> str:
        """Its name."""
        return self.generation.index


def loading_alias(index: str) -> str:
    """The alias that a generation has until it is finished."""
    return f"{index}-loading"


def deletes_index(index: str) -> str:
    """The index beside a generation that is being filled, for what is deleted meanwhile."""
    return f"{index}-deletes"


def recorded_beside(name: str) -> str:
    """The generation whose deletes an index of this name has; empty where it is no such index."""
    generation = name.rpartition("-")[0]
    return generation if deletes_index(generation) == name else ""


class Generations:
    """All generations behind one alias; every call waits out what may pass."""

    def __init__(self, client: OpenSearch, alias: str, definition: Definition, patience: Patience) -> None:
        self._client = client
        self.alias = alias
        self._definition = definition
        self._patience = patience

    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self._patience.call(
            lambda: self._client.indices.get(
                index=f"{self.alias},{generation_pattern(self.alias)}",
                params={
                    "ignore_unavailable": "true",
                    "allow_no_indices": "true",
                    "flat_settings": "true",
                    "expand_wildcards": "all",
                    "filter_path": "*.aliases,*.settings,*.mappings._meta",
                },
            )
        )
        return found

    def all(self) -> list[IndexState]:
        """Every generation, oldest first; raises CommandError where an index has the alias's name."""
        found = self._found()
        if self.alias in found:
            message = (
                f"an index is named {self.alias}, which must be an alias: something wrote before the first load; "
                "remove that index (DELETE) and load again"
            )
            raise CommandError(message)
        states = [self._state(name, body, deletes_index(name) in found) for name, body in found.items()]
        return sorted((state for state in states if state is not None), key=lambda state: state.generation)

    def _state(self, name: str, body: dict[str, Any], remembers: bool) -> IndexState | None:
        aliases = body.get("aliases", {})
        generation = parse_generation(self.alias, name)
        if generation is None:
            if self.alias in aliases:
                message = f"the alias {self.alias} points to {name}, which no load has made: remove it from the alias"
                raise CommandError(message)
            return None
        return IndexState(
            generation=generation,
            serving=self.alias in aliases,
            loading=loading_alias(name) in aliases,
            fingerprint=body.get("mappings", {}).get("_meta", {}).get("fingerprint"),
            version=body.get("mappings", {}).get("_meta", {}).get("version"),
            owner=body.get("mappings", {}).get("_meta", {}).get("owner"),
            remembers=remembers,
            settings={key.removeprefix("index."): value for key, value in body.get("settings", {}).items()},
        )

    def stray_deletes(self) -> list[str]:
        """The generations that are not being filled, or are gone, and yet have deletes recorded beside them."""
        found = self._found()
        filled = {name for name, body in found.items() if loading_alias(name) in body.get("aliases", {})}
        names = (recorded_beside(name) for name in found)
        return sorted(name for name in names if parse_generation(self.alias, name) and name not in filled)

    def create(self, index: str, owner: str) -> None:
        """Makes a new empty generation, set up for filling under the lock of `owner`."""
        body = self._definition.create_body()
        body["mappings"]["_meta"]["owner"] = owner
        settings = {**body["settings"], "index": {**body["settings"]["index"], **LOADING_SETTINGS}}
        aliases: dict[str, Any] = {loading_alias(index): {}}
        self._client.indices.create(index=index, body={**body, "settings": settings, "aliases": aliases})

    def begin(self, index: str, version: int, owner: str) -> None:
        """Notes its load's start in the index, where live changes see which of them are older, and its lock's owner."""
        meta = {"_meta": {"fingerprint": self._definition.fingerprint, "version": version, "owner": owner}}
        self._patience.call(lambda: self._client.indices.put_mapping(index=index, body=meta))

    def count(self, index: str) -> int:
        """How many items a search finds in it."""
        answer: dict[str, Any] = self._patience.call(lambda: self._client.count(index=index))
        if answer["_shards"]["successful"] != answer["_shards"]["total"]:
            message = f"not every part of {index} answered: {answer['_shards']}"
            raise CommandError(message)
        return int(answer["count"])

    def refresh(self, index: str) -> None:
        """Makes everything written so far visible to searches."""
        self._patience.call(lambda: self._client.indices.refresh(index=index))

    def prepare(self, index: str, wait_seconds: float) -> dict[str, int]:
        """Puts the settings of service back and reads everything back; raises CommandError where anything differs.

        Waits `wait_seconds` at most for its copies; returns how many of its shards are there and how many are not.
        """
        wanted = wanted_settings(self._definition)
        changeable = {key: value for key, value in wanted.items() if not at_creation(key)}
        self._patience.call(lambda: self._client.indices.put_settings(index=index, body={"index": changeable}))
        self._patience.call(lambda: self._client.cluster.health(index=index, params={"wait_for_status": "yellow"}))
        # A cluster that cannot hold all copies is not waited for: such shards are not initializing. The client takes a
        # parameter `timeout` for its own, so the engine's is in the address; 408 is its answer when the time is over.
        waiting = f"/_cluster/health/{index}?wait_for_no_initializing_shards=true&timeout={wait_seconds:.0f}s"
        health = self._patience.call(lambda: self._client.transport.perform_request("GET", waiting, {"ignore": 408}))
        state = self.one(index)
        differing = [
            f"{key} is {state.settings.get(key)} instead of {value}"
            for key, value in wanted.items()
            if not same(value, state.settings.get(key))
        ]
        if state.fingerprint != self._definition.fingerprint:
            differing.append(f"the definition is {state.fingerprint} instead of {self._definition.fingerprint}")
        if differing:
            message = f"{index} is not as it was set up: {'; '.join(differing)}"
            raise CommandError(message)
        total = health["active_shards"] + health["initializing_shards"] + health["unassigned_shards"]
        return {"wanted": total, "allocated": health["active_shards"]}

    def serving_items(self) -> int | None:
        """How many items serve now; None where nothing does."""
        serving = [state.index for state in self.all() if state.serving]
        return sum(self.count(index) for index in serving) if serving else None

    def one(self, index: str) -> IndexState:
        """The generation of this name; raises CommandError where there is none."""
        for state in self.all():
            if state.index == index:
                return state
        message = f"{self.alias} has no generation {index}; `gear-indexer status` shows what there is"
        raise CommandError(message)

    def swap(self, index: str, fence: Callable[[], None]) -> list[str]:
        """Points the alias to this generation alone, in one call; returns which served before.

        `fence` raises where this process may not do that any more; it is asked right before. May be repeated: a call
        whose answer was lost is looked up before anything is done again.
        """
        before: list[str] = []

        def once() -> None:
            states = self.all()
            serving = [state.index for state in states if state.serving]
            loading = any(state.loading for state in states if state.index == index)
            if serving == [index] and not loading:
                return
            before[:] = [name for name in serving if name != index]
            actions: list[dict[str, Any]] = [
                {"remove": {"index": old, "alias": self.alias, "must_exist": True}} for old in before
            ]
            if loading:
                actions.append({"remove": {"index": index, "alias": loading_alias(index), "must_exist": True}})
            actions.append({"add": {"index": index, "alias": self.alias}})
            fence()
            self._client.indices.update_aliases(body={"actions": actions})

        self._patience.call(once)
        serving = [state.index for state in self.all() if state.serving]
        if serving != [index]:
            message = f"the alias {self.alias} points to {', '.join(serving) or 'nothing'} after the swap to {index}"
            raise CommandError(message)
        return before

    def remove(self, index: str) -> None:
        """Deletes a generation; never the serving one."""
        if any(state.serving and state.index == index for state in self.all()):
            message = f"{index} is the serving one behind {self.alias} and is not removed"
            raise CommandError(message)

        def once() -> None:
            try:
                names = f"{index},{deletes_index(index)}"
                self._client.indices.delete(index=names, params={"ignore_unavailable": "true"})
            except NotFoundError:  # a lost answer, or somebody else was faster
                return

        self._patience.call(once)
