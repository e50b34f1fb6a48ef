"""Generations: the indices behind one alias, and the calls that make, check, swap, remove and prune them.

A generation is an index of listings and the index of their products, `<index>-products`: both are made, swapped and
removed together.

A generation that is being filled, or was left behind by an interrupted load, carries an alias of its own,
`<index>-loading`. The load writes through it, so that no late request can make an index, and status can tell what is
unfinished.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException, OpenSearchException

from indexer.engine.drift import (
    DefinedIndex,
    Differences,
    at_creation,
    defined_listings,
    defined_products,
    field_differences,
    same,
)
from indexer.engine.retry import RetryPolicy, is_transient
from indexer.engine.scan import count_documents, refresh
from indexer.engine.states import LOADING_SETTINGS, IndexState, ProductsState, loading_alias, swap_actions
from indexer.errors import CommandError
from mappings.definition import Definition
from mappings.engine_errors import cause
from mappings.names import generation_of, generation_pattern, parse_generation, products_of

MAX_MERGED_PRODUCTS = 500_000  # which takes seconds
RESPONSE_SECONDS = 30.0  # for the response of a wait that the engine ends


class SwapUnknownError(CommandError):
    """The request of a swap was sent, and whether the engine made it could not be found out."""


class Generations:
    """All generations behind one alias; every call retries transient failures."""

    def __init__(self, client: OpenSearch, alias: str, definition: Definition, retry: RetryPolicy) -> None:
        self._client = client
        self.alias = alias
        self._definition = definition
        self._retry = retry

    def _indices(self) -> dict[str, Any]:
        indices: dict[str, Any] = self._retry.call(
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
        return indices

    def all(self) -> list[IndexState]:
        """Every generation, oldest first; raises CommandError where an index has the name of an alias."""
        return self._states(self._indices())

    def _states(self, indices: dict[str, Any]) -> list[IndexState]:
        for alias in (self.alias, products_of(self.alias)):
            if alias in indices:
                raise CommandError(
                    f"an index is named {alias}, which must be an alias: something wrote before the first load; "
                    "remove that index (DELETE) and load again"
                )
        states = [self._state(name, body, indices.get(products_of(name))) for name, body in indices.items()]
        return sorted((state for state in states if state is not None), key=lambda state: state.generation)

    def _state(self, name: str, body: dict[str, Any], products: dict[str, Any] | None) -> IndexState | None:
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
            fingerprint=_meta(body).get("fingerprint"),
            version=_meta(body).get("version"),
            owner=_meta(body).get("owner", ""),
            settings=_settings(body),
            products=None
            if products is None
            else ProductsState(
                frozenset(products.get("aliases", {})), _meta(products).get("fingerprint"), _settings(products)
            ),
        )

    def create(self, index: str, owner: str) -> None:
        """Makes a new empty generation, set up for filling under the lock of `owner`."""
        body, products = self._definition.create_body(), self._definition.create_products_body()
        for each in (body, products):
            each["mappings"]["_meta"]["owner"] = owner
        body["settings"] = {**body["settings"], "index": {**body["settings"]["index"], **LOADING_SETTINGS}}
        body["aliases"] = {loading_alias(index): {}}
        products["aliases"] = {products_of(loading_alias(index)): {}}
        # the products first: who finds the listings finds both
        self._client.indices.create(index=products_of(index), body=products)
        self._client.indices.create(index=index, body=body)

    def begin(self, index: str, version: int, owner: str) -> None:
        """Writes its load's start into the index, where live changes see which of them are older, and its owner."""
        meta = {"_meta": {**self._definition.meta(), "version": version, "owner": owner}}
        self._retry.call(lambda: self._client.indices.put_mapping(index=index, body=meta))

    def fields(self, index: str) -> frozenset[str]:
        """The fields that its documents may have."""
        response = self._retry.call(lambda: self._client.indices.get_mapping(index=index))
        return frozenset(response[index]["mappings"]["properties"])

    def differences(self, index: str) -> Differences:
        """The fields in which its two indices are not as they are defined; one that is missing has none."""
        names, params = ",".join(self._defined(index)), {"ignore_unavailable": "true"}
        live = self._retry.call(lambda: self._client.indices.get_mapping(index=names, params=params))
        listings, products = (
            field_differences(defined, live.get(name, {}).get("mappings", {}))
            for name, defined in self._defined(index).items()
        )
        return listings.with_products(products)

    def count(self, index: str) -> int:
        """How many items it has, as of its last refresh."""
        return self._retry.call(lambda: count_documents(self._client, index))

    def products_without_listings(self) -> list[str]:
        """The indices of products whose listings an interrupted load has not made yet, or somebody has removed."""
        indices = self._indices()
        return [
            name
            for name in indices
            if (generation := generation_of(name)) != name
            and parse_generation(self.alias, generation)
            and generation not in indices
        ]

    def refresh(self, index: str) -> None:
        self._retry.call(lambda: refresh(self._client, index))

    def prepare(self, index: str, wait_seconds: float) -> dict[str, int]:
        """Restores the settings of service and verifies them; raises CommandError where anything differs.

        Waits at most `wait_seconds` for the replicas. Returns the number of its shards and how many are allocated.
        """
        for name, defined in self._defined(index).items():
            settings = {key: value for key, value in defined.settings.items() if not at_creation(key)}
            self._retry.call(partial(self._client.indices.put_settings, index=name, body={"index": settings}))
        both = ",".join(self._defined(index))
        self._retry.call(lambda: self._client.cluster.health(index=both, params={"wait_for_status": "yellow"}))
        # A cluster that cannot hold all copies is not waited for: such shards are not initializing. The client takes a
        # parameter `timeout` for its own, so the engine's is in the address; 408 is its response when the time is over.
        # The client waits longer than the engine: else a wait that is as long as the client's never gets a response.
        waiting = f"/_cluster/health/{both}?wait_for_no_initializing_shards=true&timeout={wait_seconds:.0f}s"
        params = {"ignore": 408, "request_timeout": wait_seconds + RESPONSE_SECONDS}
        health = self._retry.call(lambda: self._client.transport.perform_request("GET", waiting, dict(params)))
        self._check_setup(index)
        self._merge_products(index)
        total = health["active_shards"] + health["initializing_shards"] + health["unassigned_shards"]
        return {"total": total, "allocated": health["active_shards"]}

    def _defined(self, index: str) -> dict[str, DefinedIndex]:
        """What both indices of a generation are defined as, by name."""
        return {index: defined_listings(self._definition), products_of(index): defined_products(self._definition)}

    def _check_setup(self, index: str) -> None:
        """Raises CommandError where an index of the generation is not as it is defined."""
        state = self.state(index)
        differing: list[str] = []
        for (name, defined), live in zip(self._defined(index).items(), (state, state.products), strict=True):
            if live is None:
                differing.append(f"{name} is missing")
                continue
            differing += [
                f"{key} is {live.settings.get(key)} instead of {value} in {name}"
                for key, value in defined.settings.items()
                if not same(value, live.settings.get(key))
            ]
            if live.fingerprint != self._definition.fingerprint:
                differing.append(
                    f"the definition is {live.fingerprint} instead of {self._definition.fingerprint} in {name}"
                )
        if differing:
            raise CommandError(f"{index} is not as it was set up: {'; '.join(differing)}")

    def _merge_products(self, index: str) -> None:
        """Makes one segment of the products, so that a text is looked up once; not of very many, and not where the user
        may not: it is only slower then.
        """
        products = products_of(index)
        self.refresh(products)
        if self.count(products) <= MAX_MERGED_PRODUCTS:
            params = {"max_num_segments": 1}
            with suppress(AuthorizationException):
                self._retry.call(lambda: self._client.indices.forcemerge(index=products, params=params))

    def serving(self) -> list[str]:
        """What serves now, oldest first; more than one only where something else has moved the alias."""
        return [state.index for state in self.all() if state.serving]

    def state(self, index: str) -> IndexState:
        """The generation of this name; raises CommandError where there is none."""
        return self.named(self.all(), index)

    def named(self, states: list[IndexState], index: str) -> IndexState:
        """The one of these of this name; raises CommandError where there is none."""
        for state in states:
            if state.index == index:
                return state
        raise CommandError(f"{self.alias} has no generation {index}; `gear-indexer status` shows what there is")

    def swap(self, index: str, fence: Callable[[], None]) -> list[str]:
        """Points both aliases to this generation alone, in one call; returns which served before.

        `fence` raises where this process may not do that any more; it is asked right before. May be repeated: a call
        whose response was lost is looked up before anything is done again. Raises SwapUnknownError where that failed.
        """
        before: list[str] = []
        sent = False

        def point_alias() -> None:
            nonlocal sent
            old, actions = self._swapping(index)
            if not actions:
                return
            before[:] = old
            fence()
            sent = True
            try:
                self._client.indices.update_aliases(body={"actions": actions})
            except OpenSearchException as error:
                if is_transient(error):
                    raise
                if self._swapping(index)[1]:  # else it was done by an earlier call, which had been taken for lost
                    sent = False
                    raise

        try:
            self._retry.call(point_alias)
            serving = self.serving()
        except (CommandError, OpenSearchException) as error:
            if not sent:
                raise
            message = f"whether {index} serves now is not known, `gear-indexer status` tells: {cause(error)}"
            raise SwapUnknownError(message) from error
        if serving != [index]:
            message = f"the alias {self.alias} points to {', '.join(serving) or 'nothing'} after the swap to {index}"
            raise CommandError(message)
        return before

    def _swapping(self, index: str) -> tuple[list[str], list[dict[str, Any]]]:
        """Which others serve, and what is left to do until this generation alone does."""
        indices = self._indices()
        states = self._states(indices)
        self.named(states, index)
        aliases = {name: body.get("aliases", {}) for name, body in indices.items()}
        others = [state.index for state in states if state.serving and state.index != index]
        return others, swap_actions(self.alias, index, aliases)

    def remove(self, index: str, fence: Callable[[], None]) -> None:
        """Deletes a generation; never the serving one. `fence` is as in `swap`, and asked before each try."""
        if any(state.serving and state.index == index for state in self.all()):
            raise CommandError(f"{index} is the serving one behind {self.alias} and is not removed")

        def delete() -> None:
            fence()
            # both in one step; the products may be gone, or the listings
            params = {"ignore_unavailable": "true"}
            self._client.indices.delete(index=f"{index},{products_of(index)}", params=params)

        self._retry.call(delete)


def _meta(body: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = body.get("mappings", {}).get("_meta", {})
    return meta


def _settings(body: dict[str, Any]) -> dict[str, str]:
    return {key.removeprefix("index."): value for key, value in body.get("settings", {}).items()}
