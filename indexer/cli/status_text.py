"""Formats the state of a platform for people."""

from typing import Any

_ALIVE = {True: "it runs", False: "it has died", None: "on another machine"}


def readable_state(state: dict[str, Any]) -> str:
    """A few lines: what serves, who is at work, every generation."""
    lines = [f"{state['alias']}: nothing is loaded; gear-indexer load FILE... --platform {state['platform']}"]
    if state["serving"] is not None:
        shown = ", ".join(f"{key} {value}" for key, value in state["settings"].items())
        advice = "" if state["definition"] == "equal" else " from this version's: load again"
        lines = [
            f"{state['alias']}: {state['items']:,} items in {state['serving']}",
            f"  definition {state['definition']}{advice}",
            f"  {shown}",
        ]
    if state["lock"] is not None:
        lines.append(f"  {_lock(state['lock'])}")
    return "\n".join([*lines, *(_generation(generation) for generation in state["generations"])])


def _lock(lock: dict[str, Any]) -> str:
    return (
        f"locked by gear-indexer {lock['command']}, process {lock['pid']} on {lock['host']}, since {lock['since']}, "
        f"last heard of {lock['heartbeat']}: {_ALIVE[lock['alive']]}"
    )


def _generation(generation: dict[str, Any]) -> str:
    size = f"{generation['items']:,} items, {generation['bytes'] / 1e6:,.1f} MB"
    definition = f"definition {generation['definition']}{_note(generation)}"
    return f"  {generation['index']}  {generation['state']}  {size}, {definition}"


def _note(generation: dict[str, Any]) -> str:
    checkpoint = generation["checkpoint"]
    done = "" if checkpoint is None else f"; {checkpoint['read']:,} records of {', '.join(checkpoint['sources'])} done"
    if generation["state"] != "unfinished":
        return done
    goes_on = "" if checkpoint is None else ", load --resume with the same sources goes on with it"
    return f"{done}; its load has died, the next load or gear-indexer prune removes it{goes_on}"
