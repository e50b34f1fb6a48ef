"""Status: what serves behind an alias, who is at work, and which other generations there are."""

from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.states import IndexState
from indexer.errors import CommandError
from indexer.loading.resume import Checkpoints
from indexer.locking.lock import is_alive
from indexer.locking.record import LockRecords
from mappings.definition import Definition
from mappings.names import products_of
from mappings.timestamps import rfc3339

_SHOWN_SETTINGS = ("refresh_interval", "number_of_replicas", "auto_expand_replicas")


def status(client: OpenSearch, platform: int, alias: str, definition: Definition) -> dict[str, Any]:
    """What `status --json` prints for a platform; `definition` is `missing`, `differs` or `equal`.

    Of an index that somebody closed, `items` and `bytes` are null.
    """
    retry = RetryPolicy()
    generations = Generations(client, alias, definition, retry)
    states = generations.all()
    serving = [state for state in states if state.serving]
    if len(serving) > 1:
        names = ", ".join(state.index for state in serving)
        remedy = "`gear-indexer doctor --fix` makes the newest serve alone"
        raise CommandError(f"the alias {alias} points to several indices ({names}); {remedy}")
    record = retry.call(LockRecords(client, alias).read)
    alive = None if record is None else is_alive(record.owner)
    running = None if record is None or alive is False else record.owner.id
    response: dict[str, Any] = {
        "platform": platform,
        "alias": alias,
        "serving": None,
        "items": None,
        "definition": "missing",
        "fingerprint": definition.fingerprint,
        "settings": None,
        "lock": None if record is None else {**record.as_json(), "alive": alive},
        "generations": [_generation(client, generations, state, definition, running) for state in reversed(states)],
    }
    for state in serving:
        response["serving"] = state.index
        response["items"] = None if state.closed else generations.count(state.index)
        response["definition"] = _compared(state, definition)
        response["settings"] = {key: state.settings.get(key) for key in _SHOWN_SETTINGS}
    return response


def _compared(state: IndexState, definition: Definition) -> str:
    return "equal" if state.fingerprint == definition.fingerprint else "differs"


def _generation(
    client: OpenSearch, generations: Generations, state: IndexState, definition: Definition, running: str | None
) -> dict[str, Any]:
    """`running` is the owner of a lock that may be alive: what it fills is `loading`. A closed one is not counted."""
    unfinished = "loading" if state.owner == running else "unfinished"
    checkpoint = Checkpoints(client, generations.alias, state.index).read() if state.loading else None
    items = size = None
    if not state.closed:
        both = state.index if state.products is None else f"{state.index},{products_of(state.index)}"
        size = client.indices.stats(index=both, metric="store")["_all"]["primaries"]["store"]["size_in_bytes"]
        items = generations.count(state.index)
    return {
        "index": state.index,
        "createdAt": rfc3339(state.generation.created_at),
        "state": "serving" if state.serving else unfinished if state.unfinished else "kept",
        "items": items,
        "bytes": size,
        "definition": _compared(state, definition),
        "checkpoint": None if checkpoint is None else checkpoint.as_json(),
    }
