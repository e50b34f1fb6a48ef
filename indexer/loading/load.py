"""A load: sources in, a checked new generation behind the alias and a report out; or the old one as it was.

read = indexed + rejected + duplicates, the settings and the definition are checked before the swap, and the index must
prove that it holds what was read. Whatever fails until then leaves the alias alone and removes what was filled. Only a
death, or an engine that stays away, leaves that: the next load removes it or, with `resume`, goes on with it.
"""

import time
from dataclasses import replace
from datetime import UTC, datetime

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.cli.interruption import Interruption
from indexer.cli.progress import LoadProgress
from indexer.engine.failures import CommandError
from indexer.engine.generations import Generations
from indexer.engine.retry import GivenUpError, Patience, StoppedError
from indexer.engine.tombstones import Deletes
from indexer.loading.checkpoint import Checkpoint, Checkpoints
from indexer.loading.cleanup import remove_leftovers
from indexer.loading.fill import Filling
from indexer.loading.job import LoadJob
from indexer.loading.manifest import Expected
from indexer.loading.proof import prove
from indexer.loading.report import LoadReport
from indexer.loading.resume import Begun, left_by_the_dead
from indexer.loading.warm import warm
from indexer.locking.lock import Lock
from indexer.orders.claims import Claims, carry
from mappings.definition import Definition
from mappings.engine_errors import cause
from mappings.names import generation_name

# Seconds for the calls that must not be left half-done: the swap, and removing what a failed load has filled.
SHORT_PATIENCE = 30.0
# A change that is a little older than the load may arrive late in its index: how often such are removed again.
LATE_CHANGES = 3
COPIES_SECONDS = 60.0  # for the copies of the new index; a swap before they are there is safe, only slower at first


class Load:
    """One run of a job; `report` is true at every moment, also after a failure."""

    def __init__(
        self, job: LoadJob, client: OpenSearch, definition: Definition, claims: Claims | None, report: LoadReport
    ) -> None:
        self._job = job
        self._client = client
        self._definition = definition
        self._claims = claims
        self._report = report
        self._patience = Patience(job.give_up_after)
        self._generations = Generations(client, report.alias, definition, self._patience)
        self._version = 0
        self._kept = False  # what is filled is not removed when the load fails

    def run(self, progress: LoadProgress, interruption: Interruption) -> None:
        """Loads, checks and swaps; raises CommandError, SourceError or the client's error where it could not."""
        # What would stop the swap in the end is found before any work is done.
        self._generations.all()
        if self._claims is not None:
            self._claims.check_file(self._client, self._report.alias)
            self._claims.bound()
        patience = Patience(min(self._job.give_up_after, SHORT_PATIENCE))
        alias, expiry = self._report.alias, self._job.lock_expiry
        with Lock(self._client, alias, "load", patience, progress.say, expiry=expiry) as lock:
            lock.stops(self._patience.stopped)
            try:
                self._alone(lock, progress, interruption)
            except StoppedError:
                lock.check()  # says why
                raise

    def _alone(self, lock: Lock, progress: LoadProgress, interruption: Interruption) -> None:
        began = datetime.now(UTC)
        left = self._left_by_the_dead(lock, progress) if self._job.resume else None
        removed = remove_leftovers(
            self._client,
            self._generations,
            lock,
            self._patience,
            progress.say,
            but=None if left is None else left.index,
        )
        self._report.removed += removed
        name = generation_name(self._report.alias, began, self._definition.fingerprint)
        index = self._report.index = name if left is None else left.index
        deletes = Deletes(self._client, index, self._patience)
        self._kept = left is not None
        try:
            with Expected() as expected:
                with self._report.phase("fill"):
                    self._fill(left or self._begin(index, deletes, lock), expected, lock, progress)
                progress.say(f"{self._report.counts()}; checking {index}")
                self._check()
                bound = self._finish(index, deletes)
                with self._report.phase("proof"):
                    self._prove(index, expected, deletes)
            with interruption.held(), self._report.phase("swap"):
                try:
                    self._swap(index, lock)
                except GivenUpError as error:
                    self._kept = True  # the swap may yet happen: its answer was lost
                    message = f"whether {index} serves now is not known, `gear-indexer status` tells: {error}"
                    raise CommandError(message) from error
                self._tell_again(bound, began)
        finally:
            if not self._kept and not self._report.swapped:
                self._remove_unfinished(index, lock, progress)
        self._patience.call(lock.renew)
        deletes.remove()
        self._prune(index)

    def _begin(self, index: str, deletes: Deletes, lock: Lock) -> Begun:
        """Makes the index, then takes the time: whoever changes an item later than that finds the index."""
        self._patience.call(lambda: lock.renew(index))
        deletes.create()
        self._generations.create(index, lock.owner.id)
        version = time.time_ns() // 1000
        self._generations.begin(index, version, lock.owner.id)
        checkpoint = Checkpoint(owner=lock.owner.id, sources=self._job.shown_files, size=self._job.size)
        return Begun(index, version, checkpoint)

    def _left_by_the_dead(self, lock: Lock, progress: LoadProgress) -> Begun:
        """What a load that died has begun, from now on under this lock."""
        left = left_by_the_dead(self._job, self._client, self._generations, self._definition, lock)
        self._patience.call(lambda: lock.renew(left.index))
        self._generations.begin(left.index, left.version, lock.owner.id)
        progress.say(f"going on with {left.index}, of which {left.checkpoint.read:,} records are acknowledged")
        return left

    def _fill(self, begun: Begun, expected: Expected, lock: Lock, progress: LoadProgress) -> None:
        """Fills the index; where the engine stayed away, what is in it is kept for a --resume."""
        self._report.version = self._version = begun.version
        checkpoints = Checkpoints(self._client, begun.index)
        self._patience.call(checkpoints.read)
        begun = replace(begun, checkpoint=replace(begun.checkpoint, owner=lock.owner.id))
        self._patience.call(lambda: checkpoints.write(begun.checkpoint))
        filling = Filling(self._job, self._client, lock, self._report, expected, begun)
        away = False
        try:
            filling.run(checkpoints, progress)
        except GivenUpError as error:
            away = not self._job.reads_stdin
            if not away:
                raise
            message = f"{error}; what is acknowledged stays: the same command with --resume goes on with it"
            raise CommandError(message) from error
        finally:
            self._kept = away or not filling.trusted

    def _finish(self, index: str, deletes: Deletes) -> set[int]:
        """Makes a filled index fit for service; returns the items that active orders hold."""
        report = self._report
        with report.phase("deletes"):
            deletes.apply(self._version)
        with report.phase("settings"):
            report.copies = self._generations.prepare(index, min(self._job.give_up_after, COPIES_SECONDS))
        with report.phase("claims"):
            bound = self._carry_claims(index)
        with report.phase("warm-up"):
            warm(self._client, index, self._patience)
        return bound

    def _prove(self, index: str, expected: Expected, deletes: Deletes) -> None:
        proof = prove(self._client, index, self._version, expected, self._patience)
        for _ in range(LATE_CHANGES):
            if not proof.strangers:
                break
            deletes.apply(self._version)
            proof = prove(self._client, index, self._version, expected, self._patience)
        self._report.proof = proof.as_json()
        if not proof.agrees:
            raise CommandError(proof.disagreement(index))

    def _check(self) -> None:
        report = self._report
        if report.read != report.indexed + report.rejected + report.duplicates:
            message = f"the numbers do not add up, nothing is swapped in: {report.counts()}"
            raise CommandError(message)
        if report.rejected * 100 > self._job.max_rejects * report.read:
            message = (
                f"{report.rejected:,} of {report.read:,} items were refused, more than {self._job.max_rejects:g} % "
                f"(--max-rejects); {report.rejects} says why"
            )
            raise CommandError(message)
        if report.indexed == 0 and not self._job.allow_empty:
            message = "the source has no items, so the old ones stay; --allow-empty swaps in an empty index"
            raise CommandError(message)
        serving = self._generations.serving_items() or 0
        if report.indexed and report.indexed * 100 < self._job.min_share * serving:
            message = (
                f"the new index would have {report.indexed:,} items where {serving:,} serve, less than "
                f"{self._job.min_share:g} % (--min-share): is the source complete? --min-share 0 swaps it in"
            )
            raise CommandError(message)

    def _carry_claims(self, index: str) -> set[int]:
        if self._claims is None:
            return set()
        bound = self._claims.bound()
        self._report.bound = carry(self._client, index, bound, self._patience)
        return bound

    def _swap(self, index: str, lock: Lock) -> None:
        patience = Patience(min(self._job.give_up_after, SHORT_PATIENCE))
        generations = Generations(self._client, self._report.alias, self._definition, patience)
        states = generations.all()
        mine = next(state.generation for state in states if state.index == index)
        newer = [state.index for state in states if state.serving and state.generation > mine]
        if newer:
            message = f"{newer[0]}, begun later, was swapped in meanwhile; this older load is dropped"
            raise CommandError(message)
        before = generations.swap(index, lock.renew)
        self._report.swapped = True
        self._report.previous = before[0] if before else None

    def _tell_again(self, bound: set[int], began: datetime) -> None:
        """Orders placed or ended while this ran were told to the old index: they are told again."""
        if self._claims is not None:
            self._claims.tell_again(bound, began)

    def _remove_unfinished(self, index: str, lock: Lock, progress: LoadProgress) -> None:
        patience = Patience(SHORT_PATIENCE / 2)
        generations = Generations(self._client, self._report.alias, self._definition, patience)
        try:
            patience.call(lock.renew)  # who took the lock over decides what becomes of the index
            generations.remove(index)
        except (CommandError, OpenSearchException) as error:
            why = cause(error) if isinstance(error, OpenSearchException) else str(error)
            progress.say(f"{index} could not be removed ({why}); the next load or `gear-indexer prune` removes it")

    def _prune(self, index: str) -> None:
        """Removes the oldest finished generations; the one that served until now stays for a rollback."""
        states = [state for state in self._generations.all() if not state.loading]
        kept = {index} if self._report.previous is None or self._job.keep < 2 else {index, self._report.previous}
        for state in reversed(states):
            if len(kept) < self._job.keep:
                kept.add(state.index)
        for state in states:
            if state.index not in kept:
                self._generations.remove(state.index)
                self._report.removed.append(state.index)
