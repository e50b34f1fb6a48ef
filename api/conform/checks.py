"""Runs the checks: each is a function with the sentence of the contract that it verifies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from api.conform.deployment import CheckFailed, Deployment

Check = Callable[[Deployment], None]
Part = Literal["http", "search", "orders"]
Outcome = Literal["passed", "failed", "not run"]
SANDBOX: Final = "sandbox"
"""The check of the token that comes before all orders."""


@dataclass(frozen=True)
class Entry:
    name: str
    part: Part
    sentence: str
    run: Check


@dataclass(frozen=True)
class Finding:
    entry: Entry
    outcome: Outcome
    message: str = ""


CHECKS: Final[list[Entry]] = []


def check(part: Part, sentence: str) -> Callable[[Check], Check]:
    """Adds a check of this sentence; its name is that of the function."""

    def add(run: Check) -> Check:
        CHECKS.append(Entry(run.__name__.replace("_", "-"), part, sentence, run))
        return run

    return add


def run_checks(deployment: Deployment, entries: Sequence[Entry]) -> list[Finding]:
    """Runs them in order. No order is placed unless the token is a sandbox's; those placed are cancelled at the end."""
    findings: list[Finding] = []
    sandboxed: bool | None = None
    try:
        for entry in entries:
            if entry.part == "orders" and entry.name != SANDBOX:
                if sandboxed is None:
                    probe = next(candidate for candidate in CHECKS if candidate.name == SANDBOX)
                    sandboxed = _run(deployment, probe).outcome == "passed"
                if not sandboxed:
                    findings.append(Finding(entry, "not run", "it needs a sandbox token with the scope order"))
                    continue
            findings.append(_run(deployment, entry))
    finally:
        left = deployment.cancel_orders()
    if left:
        entry = Entry("cleanup", "orders", "sandbox orders of the checks are cancelled", lambda _: None)
        findings.append(Finding(entry, "failed", f"not cancelled: {', '.join(left)}"))
    return findings


def _run(deployment: Deployment, entry: Entry) -> Finding:
    try:
        entry.run(deployment)
    except CheckFailed as failure:
        return Finding(entry, "failed", str(failure))
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        return Finding(entry, "failed", f"a response has another shape: {type(error).__name__} {error}")
    return Finding(entry, "passed")
