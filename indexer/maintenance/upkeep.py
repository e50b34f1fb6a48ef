"""Upkeep: an alias's generations in; what is there, the previous one serving again, or the old ones gone out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.failures import CommandError
from indexer.engine.generations import Generations, IndexState
from indexer.engine.retry import Patience
from indexer.engine.tombstones import Deletes
from indexer.loading.checkpoint import Checkpoints
from indexer.locking.lock import Lock, known_to_live
from indexer.locking.record import LockRecords
from indexer.maintenance.comparison import Comparison, compare
from indexer.orders.claims import Claims, carry
from mappings.definition import Definition
from mappings.platforms import Platform

PATIENCE_SECONDS = 30.0
_SHOWN_SETTINGS = ("refresh_interval", "number_of_replicas", "auto_expand_replicas")


@dataclass(frozen=True)
class Upkeep:
    """One platform's alias and what may be done with its generations."""

    client: OpenSearch
    platform: Platform
    alias: str
    definition: Definition

    def _generations(self) -> Generations:
        return Generations(self.client, self.alias, self.definition, Patience(PATIENCE_SECONDS))

    def status(self) -> dict[str, Any]:
        """What serves, who is at work and what else is there; `definition` is `missing`, `differs` or `equal`."""
        states = self._generations().all()
        serving = [state for state in states if state.serving]
        record = Patience(PATIENCE_SECONDS).call(LockRecords(self.client, self.alias, PATIENCE_SECONDS).read)
        alive = None if record is None else known_to_live(record.owner)
        running = None if record is None or alive is False else record.owner.id
        answer: dict[str, Any] = {
            "platform": self.platform.id,
            "alias": self.alias,
            "serving": None,
            "items": None,
            "definition": "missing",
            "fingerprint": self.definition.fingerprint,
            "settings": None,
            "lock": None if record is None else {**record.as_json(), "alive": alive},
            "generations": [self._generation(state, running) for state in reversed(states)],
        }
        if len(serving) > 1:
            names = ", ".join(state.index for state in serving)
            message = (
                f"the alias {self.alias} points to several indices ({names}); `gear-indexer rollback` sets it right"
            )
            raise CommandError(message)
        for state in serving:
            answer["serving"] = state.index
            answer["items"] = self._generations().count(state.index)
            answer["definition"] = self._compared(state)
            answer["settings"] = {key: state.settings.get(key) for key in _SHOWN_SETTINGS}
        return answer

    def _compared(self, state: IndexState) -> str:
        return "equal" if state.fingerprint == self.definition.fingerprint else "differs"

    def _generation(self, state: IndexState, running: str | None) -> dict[str, Any]:
        """`running` is the owner of a lock that may live: what it fills is `loading`."""
        unfinished = "loading" if state.owner is not None and state.owner == running else "unfinished"
        checkpoint = Checkpoints(self.client, state.index).read() if state.loading else None
        stats = self.client.indices.stats(index=state.index, metric="store")
        return {
            "index": state.index,
            "createdAt": state.generation.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "state": "serving" if state.serving else unfinished if state.loading else "kept",
            "items": self._generations().count(state.index),
            "bytes": stats["_all"]["primaries"]["store"]["size_in_bytes"],
            "definition": self._compared(state),
            "checkpoint": None if checkpoint is None else checkpoint.as_json(),
        }

    def _lock(self, command: str, say: Callable[[str], None]) -> Lock:
        return Lock(self.client, self.alias, command, Patience(PATIENCE_SECONDS), say)

    def compared(self, to: str | None) -> Comparison:
        """What a rollback would change; raises CommandError where it would be refused."""
        serving, target = self._chosen(self._generations().all(), to)
        return compare(self.client, serving, target, Patience(PATIENCE_SECONDS))

    def rollback(
        self,
        to: str | None,
        claims: Claims | None,
        say: Callable[[str], None],
        *,
        command: str = "rollback",
        told: Comparison | None = None,
    ) -> dict[str, Any]:
        """Has an earlier generation serve again, with the orders of now marked in it first.

        `told` is what somebody agreed to: raises CommandError where something else serves by now.
        """
        self._chosen(self._generations().all(), to)  # what cannot be done is said without waiting for anybody
        with self._lock(command, say) as lock:
            return self._rollback(to, claims, say, lock, told)

    def _chosen(self, states: list[IndexState], to: str | None) -> tuple[IndexState | None, IndexState]:
        """What serves, and what is to serve in its place."""
        target = self._target(states, to)
        if target.fingerprint != self.definition.fingerprint and to is None:
            message = (
                f"{target.index} was made with another definition ({target.fingerprint}); where this version's "
                f"searches may run on it, name it: --to {target.index}"
            )
            raise CommandError(message)
        serving = [state for state in states if state.serving and state != target]
        return serving[-1] if serving else None, target

    def _rollback(
        self, to: str | None, claims: Claims | None, say: Callable[[str], None], lock: Lock, told: Comparison | None
    ) -> dict[str, Any]:
        generations = self._generations()
        serving, target = self._chosen(generations.all(), to)
        now = None if serving is None else serving.index
        if told is not None and (told.serving, told.target) != (now, target.index):
            message = f"{now or 'nothing'} serves by now, in the place of {told.serving or 'nothing'}: look again"
            raise CommandError(message)
        if target.fingerprint != self.definition.fingerprint:
            say(f"{target.index} has another definition than this version's: searches may not find everything")
        if claims is not None:
            claims.check_file(self.client, generations.alias)
        began = datetime.now(UTC)
        bound = set() if claims is None else claims.bound()
        marked = 0 if claims is None else carry(self.client, target.index, bound, Patience(PATIENCE_SECONDS))
        before = generations.swap(target.index, lock.renew)
        if claims is not None:
            claims.tell_again(bound, began)
        return {
            "platform": self.platform.id,
            "alias": self.alias,
            "index": target.index,
            "previous": before[0] if before else None,
            "items": generations.count(target.index),
            "bound": marked,
            "swapped": True,
        }

    def _target(self, states: list[IndexState], to: str | None) -> IndexState:
        serving = [state for state in states if state.serving]
        if to is not None:
            named = [state for state in states if state.index == to]
            if not named:
                message = f"{self.alias} has no generation {to}; `gear-indexer status` shows what there is"
                raise CommandError(message)
            if named[0].loading:
                message = f"{to} was never filled to its end and cannot serve"
                raise CommandError(message)
            if serving == named:
                message = f"{to} is the one that serves already"
                raise CommandError(message)
            return named[0]
        if not serving:
            message = f"nothing serves behind {self.alias}: name a generation with --to, or load"
            raise CommandError(message)
        earlier = [state for state in states if not state.loading and state.generation < serving[-1].generation]
        if not earlier:
            raise CommandError(_nothing_earlier(states, serving[-1]))
        return earlier[-1]

    def prune(self, keep: int, say: Callable[[str], None]) -> dict[str, Any]:
        """Removes all but the `keep` newest finished generations, the serving one always among them.

        Generations that were never finished go too: no load runs beside this, but for one of a version without locks.
        """
        with self._lock("prune", say) as lock:
            return self._prune(keep, lock)

    def _prune(self, keep: int, lock: Lock) -> dict[str, Any]:
        generations = self._generations()
        states = generations.all()
        kept = [state.index for state in states if state.serving]
        for state in reversed(states):
            if not state.loading and state.index not in kept and len(kept) < keep:
                kept.append(state.index)
        removed = [state.index for state in states if state.index not in kept]
        for index in removed:
            lock.renew()
            generations.remove(index)
        for index in generations.stray_deletes():
            Deletes(self.client, index, Patience(PATIENCE_SECONDS)).remove()
        return {"platform": self.platform.id, "alias": self.alias, "kept": sorted(kept), "removed": removed}


def _nothing_earlier(states: list[IndexState], serving: IndexState) -> str:
    """The sentence for a rollback from the oldest generation; `states` are all of them, oldest first."""
    message = f"there is no finished generation before {serving.index}"
    later = [state.index for state in reversed(states) if not state.loading and state.generation > serving.generation]
    if not later:
        return f"{message}; load the earlier catalogue again"
    return f"{message}; to go forward again name the later one: {' or '.join(f'--to {index}' for index in later)}"
