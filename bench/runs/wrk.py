"""One run of the load generator: an address and bodies in, what wrk, a process of its own, counted out."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("post.lua")
NEEDED = "wrk is needed to make load: `apt-get install wrk`, or from your system's packages"


class BrokenRunError(Exception):
    """A run that measured nothing: no generator, or answers that are no answers."""


@dataclass(frozen=True)
class Run:
    """What one run counted; times in microseconds."""

    requests: int
    microseconds: int
    p50: int
    p90: int
    p99: int
    most: int
    refused: int
    broken: int
    bytes: int
    items: int = 0  # of all pages, where they were counted (bench.runs.walk)
    ordered: int = 0  # items that were ordered beside the requests (bench.runs.changing)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.microseconds * 1e6

    @property
    def item_rate(self) -> float:
        """Items a second, 0 where they were not counted."""
        return self.items / self.microseconds * 1e6


def run(
    address: str,
    path: str,
    bodies: Path,
    *,
    first: int,
    clients: int,
    seconds: float,
    headers: Mapping[str, str],
    keys: str | None = None,
) -> Run:
    """Sends the bodies from the `first` on for so many seconds; raises BrokenRunError where any was not answered.

    With `keys` each request has an `Idempotency-Key` of its own, which begins with that text.
    """
    program = shutil.which("wrk")
    if program is None:
        raise BrokenRunError(NEEDED)
    command: list[str] = [program, "-s", str(SCRIPT), "-t", "1", "-c", str(clients), "-d", f"{max(1, round(seconds))}s"]
    command += ["--timeout", "30s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    command += [address, "--", str(bodies), str(first), path, *([] if keys is None else [keys])]
    found = told_by(command)
    if found.refused or found.broken or not found.requests:
        message = f"{address}{path}: {found.refused} refused, {found.broken} broken of {found.requests} requests"
        raise BrokenRunError(message)
    return found


def told_by(command: Sequence[str]) -> Run:
    """Runs a load generator and reads its last line; raises BrokenRunError where there is none."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        message = f"{Path(command[0]).name} failed: {(done.stderr or done.stdout)[-500:]}"
        raise BrokenRunError(message)
    return Run(**json.loads(lines[-1]))
