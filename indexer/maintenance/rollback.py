"""Rollback: an earlier generation serves again, once what changes by it was shown."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.drift import Differences
from indexer.engine.generations import Generations, SwapUnknownError
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import count_documents
from indexer.engine.states import IndexState
from indexer.engine.tombstones import Tombstones
from indexer.errors import CommandError
from indexer.loading.prices import compare_prices, sample_of_index
from indexer.loading.rules import PriceChanges
from indexer.locking.lock import Lock
from indexer.orders.claims import Claims, bind_claimed, reenqueue_after_swap
from mappings.definition import Definition
from mappings.platforms import Platform
from mappings.timestamps import rfc3339


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a rollback would change; None is what is not known, or not so because nothing serves."""

    serving: str | None
    target: str
    loaded_at: tuple[str | None, str]  # when the load began, RFC 3339; of the one that serves, and of the target
    items: tuple[int | None, int]
    changed_live: int | None  # written live to the one that serves since its load began
    deleted_live: int | None  # deletes since then, of the last two days
    prices: PriceChanges  # of a sample of the target's items, against what serves
    fields: Differences  # in which the target's indices differ from this version's definition

    def as_json(self) -> dict[str, Any]:
        return {
            "serving": {"index": self.serving, "items": self.items[0], "loadedAt": self.loaded_at[0]},
            "target": {"index": self.target, "items": self.items[1], "loadedAt": self.loaded_at[1]},
            "changedLive": self.changed_live,
            "deletedLive": self.deleted_live,
            "prices": asdict(self.prices),
            "definition": self.fields.sentence() or "equal",
        }

    def sentences(self) -> list[str]:
        sentences = [f"to serve: {self.target}, {self.items[1]:,} items, loaded {self.loaded_at[1]}"]
        if self.serving is not None:
            sentences.append(f"in the place of: {self.serving}, {self.items[0]:,} items, loaded {self.loaded_at[0]}")
        if self.changed_live:
            sentences.append(
                f"{self.changed_live:,} items were changed live since the load: these changes are not in it"
            )
        if self.deleted_live:
            sentences.append(
                f"{self.deleted_live:,} items were deleted live since the load: those that it has are on offer again"
            )
        if self.prices.changed:
            sentences.append(self.prices.sentence())
        if self.fields:
            sentences.append(f"its fields differ from this version's: {self.fields.sentence()}")
        return sentences


@dataclass(frozen=True)
class Rollback:
    """One platform's alias, and which of its generations may serve."""

    client: OpenSearch
    platform: Platform
    alias: str
    definition: Definition
    uninterrupted: Callable[[], AbstractContextManager[None]] = nullcontext  # the swap runs within it
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def preview(self, to: str | None) -> Preview:
        """What a rollback would change; raises CommandError where it would be refused."""
        generations = self._generations()
        serving, target = self._select(generations.all(), to)
        changed_live = deleted_live = None
        if serving is not None and serving.version is not None:
            query = {"range": {"version": {"gt": serving.version}}}
            changed_live = self.retry.call(partial(count_documents, self.client, serving.index, query))
            deleted_live = Tombstones(self.client, self.alias, self.retry).count_later(serving.version)
        items, prices = generations.count(target.index), PriceChanges()
        if serving is not None:
            sample = sample_of_index(self.client, target.index, items, self.retry)
            prices = compare_prices(self.client, serving.index, sample, self.retry)
        return Preview(
            serving=None if serving is None else serving.index,
            target=target.index,
            loaded_at=(None if serving is None else _loaded_at(serving), _loaded_at(target)),
            items=(None if serving is None else generations.count(serving.index), items),
            changed_live=changed_live,
            deleted_live=deleted_live,
            prices=prices,
            fields=generations.differences(target.index),
        )

    def run(
        self,
        to: str | None,
        claims: Claims | None,
        say: Callable[[str], None],
        response: dict[str, Any],
        *,
        command: str = "rollback",
        preview: Preview | None = None,
    ) -> None:
        """Has an earlier generation serve again, which binds the items of the orders of now first.

        `response` is filled, and true also after an error.
        `preview` is what somebody agreed to: raises CommandError where something else serves by now.
        """
        generations = self._generations()
        self._select(generations.all(), to)  # what cannot be done is said without waiting for anybody
        with Lock(self.client, self.alias, command, self.retry, say) as lock:
            serving, target = self._select(generations.all(), to)
            now = None if serving is None else serving.index
            if preview is not None and (preview.serving, preview.target) != (now, target.index):
                before = preview.serving or "nothing"
                raise CommandError(f"{now or 'nothing'} serves by now, in the place of {before}: look again")
            if target.fingerprint != self.definition.fingerprint:
                say(f"{target.index} has another definition than this version's: searches may not find everything")
            if claims is not None:
                claims.check(self.client, self.alias)
            bound = bind_claimed(self.client, target.index, claims, self.retry)
            response.update(platform=self.platform.id, alias=self.alias, index=target.index, bound=bound.number)
            with self.uninterrupted(), reenqueue_after_swap(claims, bound.since, bound.items):
                try:
                    previous = generations.swap(target.index, lock.renew)
                except SwapUnknownError:
                    response["swapped"] = None
                    raise
                response.update(swapped=True, previous=previous[0] if previous else None)
            response["items"] = generations.count(target.index)

    def _generations(self) -> Generations:
        return Generations(self.client, self.alias, self.definition, self.retry)

    def _select(self, states: list[IndexState], to: str | None) -> tuple[IndexState | None, IndexState]:
        """What serves, and what is to serve in its place."""
        target = self._target(states, to)
        if target.fingerprint != self.definition.fingerprint and to is None:
            raise CommandError(
                f"{target.index} was made with another definition ({target.fingerprint}); where this version's "
                f"searches may run on it, name it: --to {target.index}"
            )
        if target.products is None:
            message = f"the products of {target.index} are missing, so that no text would find anything: load again"
            raise CommandError(message)
        serving = [state for state in states if state.serving and state != target]
        return serving[-1] if serving else None, target

    def _target(self, states: list[IndexState], to: str | None) -> IndexState:
        serving = [state for state in states if state.serving]
        if to is not None:
            named = self._generations().named(states, to)
            if named.unfinished:
                raise CommandError(f"{to} was never filled to its end and cannot serve")
            if serving == [named]:
                raise CommandError(f"{to} is the one that serves already")
            return named
        if not serving:
            raise CommandError(f"nothing serves behind {self.alias}: name a generation with --to, or load")
        earlier = [state for state in states if not state.unfinished and state.generation < serving[-1].generation]
        if not earlier:
            raise CommandError(_nothing_earlier(states, serving[-1]))
        return earlier[-1]


def _loaded_at(state: IndexState) -> str:
    """When its load began."""
    return rfc3339(state.generation.created_at)


def _nothing_earlier(states: list[IndexState], serving: IndexState) -> str:
    """The sentence for a rollback from the oldest generation; `states` are all of them, oldest first."""
    message = f"there is no finished generation before {serving.index}"
    later = [
        state.index for state in reversed(states) if not state.unfinished and state.generation > serving.generation
    ]
    if not later:
        return f"{message}; load the earlier catalogue again"
    return f"{message}; to go forward again name the later one: {' or '.join(f'--to {index}' for index in later)}"
