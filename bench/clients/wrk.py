"""One run of wrk, the load generator, as a process of its own."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("requests.lua")


class FailedRunError(Exception):
    """A run that measured nothing: no load generator, or responses that are errors."""


@dataclass(frozen=True)
class Run:
    """What one run counted; times in microseconds."""

    requests: int
    microseconds: int
    p50: int
    p90: int
    p99: int
    max: int
    status_errors: int
    socket_errors: int
    bytes: int
    items: int = 0  # of all pages, where they were counted (bench.clients.cursor)
    orders: int = 0  # placed beside the requests (bench.clients.background)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.microseconds * 1e6

    @property
    def item_rate(self) -> float:
        """Items a second, 0 where they were not counted."""
        return self.items / self.microseconds * 1e6


def program() -> str:
    """The path of wrk; raises FailedRunError where it is not installed."""
    path = shutil.which("wrk")
    if path is None:
        message = "wrk makes the load: install it by `apt-get install wrk`, or from your system's packages"
        raise FailedRunError(message)
    return path


def run(
    address: str,
    path: str,
    bodies: Path,
    *,
    first: int,
    clients: int,
    seconds: float,
    headers: Mapping[str, str],
    idempotency_prefix: str | None = None,
) -> Run:
    """Sends the bodies from the `first` on for so many seconds; raises FailedRunError where any request failed.

    With an `idempotency_prefix` each request has an `Idempotency-Key` of its own that begins with it.
    """
    command: list[str] = [
        program(),
        "-s",
        str(SCRIPT),
        "-t",
        "1",
        "-c",
        str(clients),
        "-d",
        f"{max(1, round(seconds))}s",
    ]
    command += ["--timeout", "30s"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    command += [address, "--", str(bodies), str(first), path]
    if idempotency_prefix is not None:
        command.append(idempotency_prefix)
    counted = run_generator(command)
    if counted.status_errors or counted.socket_errors or not counted.requests:
        message = (
            f"{address}{path}: {counted.status_errors} refused and {counted.socket_errors} broken "
            f"of {counted.requests} requests"
        )
        raise FailedRunError(message)
    return counted


def run_orders(
    address: str,
    path: str,
    orders: Iterable[object],
    file: Path,
    *,
    clients: int,
    seconds: float,
    headers: Mapping[str, str],
) -> Run:
    """Sends orders, kept in the file, each with an `Idempotency-Key` of its own; raises as `run`."""
    file.write_text("".join(json.dumps(order) + "\n" for order in orders), encoding="utf-8")
    prefix = f"bench-{time.time_ns()}"
    return run(
        address, path, file, first=0, clients=clients, seconds=seconds, headers=headers, idempotency_prefix=prefix
    )


def run_generator(command: Sequence[str]) -> Run:
    """Runs a load generator and reads its last line; raises FailedRunError where there is none."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        message = f"{Path(command[0]).name} failed: {(done.stderr or done.stdout)[-500:]}"
        raise FailedRunError(message)
    return Run(**json.loads(lines[-1]))
