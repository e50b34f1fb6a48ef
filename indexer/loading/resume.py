"""Resuming: a job and what a load that died has left in; the index to go on with and from where, or why not, out."""

from dataclasses import dataclass

from opensearchpy import OpenSearch

from indexer.engine.failures import CommandError
from indexer.engine.generations import Generations
from indexer.loading.checkpoint import Checkpoint, Checkpoints
from indexer.loading.job import LoadJob
from indexer.locking.lock import Lock
from mappings.definition import Definition

AGAIN = "load again, without --resume"


@dataclass(frozen=True)
class Begun:
    """A load that was begun: its index, its time (microseconds since 1970), and up to where it is acknowledged."""

    index: str
    version: int
    checkpoint: Checkpoint


def left_by_the_dead(
    job: LoadJob, client: OpenSearch, generations: Generations, definition: Definition, lock: Lock
) -> Begun:
    """What this job goes on with; raises CommandError where there is nothing, or it does not fit the job."""
    unfinished = [state for state in generations.all() if state.loading and not state.serving]
    if not unfinished:
        before = lock.predecessor
        gone = f" ({before.index} is gone)" if before is not None and before.index is not None else ""
        message = f"behind {generations.alias} no load has left anything to go on with{gone}: {AGAIN}"
        raise CommandError(message)
    state = unfinished[-1]
    checkpoint = Checkpoints(client, state.index).read()
    if checkpoint is None or state.version is None:
        message = f"{state.index} has no record of how far its load had come: {AGAIN}"
        raise CommandError(message)
    if state.fingerprint != definition.fingerprint:
        message = (
            f"{state.index} was begun with another definition ({state.fingerprint}) than this version's "
            f"({definition.fingerprint}): {AGAIN}"
        )
        raise CommandError(message)
    if None not in (checkpoint.size, job.size) and checkpoint.size != job.size:
        message = (
            f"the sources have {job.size:,} bytes where those of the load that died had {checkpoint.size:,} "
            f"({', '.join(checkpoint.sources)}): name the same ones, or {AGAIN}"
        )
        raise CommandError(message)
    return Begun(state.index, state.version, checkpoint)
