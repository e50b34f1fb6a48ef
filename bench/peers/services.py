"""The measured services: what they are to serve in, processes that answer on a port of their own out."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.error import URLError
from urllib.request import urlopen

import psutil

START_SECONDS = 60.0


@dataclass(frozen=True)
class Service:
    """A running process, where it answers, and with which headers it is asked."""

    process: subprocess.Popen[bytes]
    address: str
    headers: Mapping[str, str]

    def resident(self) -> int:
        """Bytes of memory that it and its workers hold."""
        whole = psutil.Process(self.process.pid)
        return sum(one.memory_info().rss for one in (whole, *whole.children(recursive=True)))

    def busy(self) -> float:
        """Seconds of processor time that it and its workers have used."""
        whole = psutil.Process(self.process.pid)
        times = [one.cpu_times() for one in (whole, *whole.children(recursive=True))]
        return float(sum(one.user + one.system for one in times))


@contextmanager
def gear_api(
    opensearch_url: str,
    prefix: str,
    folder: Path,
    workers: int = 1,
    database_url: str | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
    watched: Path | None = None,
) -> Iterator[Service]:
    """This project's service with one token, no limit of requests, and an SQLite file in the folder unless another
    database is named. `more` are further settings. With `watched` it notes there what it does (bench.profiled).
    """
    port = free_port()
    settings = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": prefix,
        "GEAR_DATABASE_URL": database_url or f"sqlite+aiosqlite:///{folder}/bench.db",
        "GEAR_RATE_LIMIT": "",
        "GEAR_SEARCH_TIMEOUT": "30",
        **more,
    }
    environment = {**os.environ, **settings}
    program = str(Path(sys.executable).with_name("gear-api"))
    subprocess.run([program, "migrate"], env=environment, check=True, capture_output=True)
    scopes = ["--scope", "search", "--scope", "order", "--scope", "fulfil"]
    making = [program, "token", "create", "--name", "bench", *scopes, "--json"]
    made = subprocess.run(making, env=environment, check=True, capture_output=True)
    headers = {"Authorization": f"Bearer {json.loads(made.stdout)['token']}", "Content-Type": "application/json"}
    command = [program] if watched is None else [sys.executable, "-m", "bench.profiled", str(watched), "gear-api"]
    command += ["serve", "--port", str(port), "--workers", str(workers)]
    with _running(command, environment, port, "/health/live", folder / "gear-api.log") as process:
        yield Service(process, f"http://127.0.0.1:{port}", headers)


@contextmanager
def receiver(folder: Path) -> Iterator[Service]:
    """A receiver of callbacks, a process of its own (bench.peers.receiver)."""
    port = free_port()
    command = [sys.executable, "-m", "bench.peers.receiver", str(port)]
    with _running(command, os.environ, port, "/", folder / "receiver.log") as process:
        yield Service(process, f"http://127.0.0.1:{port}", {})


@contextmanager
def plain(opensearch_url: str, index: str, folder: Path, workers: int = 1) -> Iterator[Service]:
    """The plain peer, by uvicorn as its page says."""
    port = free_port()
    environment = {**os.environ, "BENCH_PLAIN_OPENSEARCH_URL": opensearch_url, "BENCH_PLAIN_INDEX": index}
    command = [sys.executable, "-m", "uvicorn", "--factory", "bench.peers.plain:create_app", "--port", str(port)]
    command += ["--no-access-log", "--workers", str(workers)]
    with _running(command, environment, port, "/openapi.json", folder / "plain.log") as process:
        yield Service(process, f"http://127.0.0.1:{port}", {"Content-Type": "application/json"})


@contextmanager
def stac(python: Path, settings: Mapping[str, str], folder: Path) -> Iterator[Service]:
    """The independent peer (bench.peers.stac), run by uvicorn of its own environment as its page says."""
    port = free_port()
    command = [str(python), "-m", "uvicorn", "--factory", "stac_fastapi.opensearch.app:create_app"]
    command += ["--port", str(port), "--no-access-log"]
    # its environment must not find this project's packages in the place of its own
    environment = {**os.environ, **settings}
    environment.pop("PYTHONPATH", None)
    with _running(command, environment, port, "/_mgmt/ping", folder / "stac.log") as process:
        yield Service(process, f"http://127.0.0.1:{port}", {"Content-Type": "application/json"})


def stac_version(python: Path) -> str:
    """The version of the independent peer that an environment has."""
    asked = [str(python), "-c", "from importlib.metadata import version; print(version('stac-fastapi-opensearch'))"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _running(
    command: list[str], environment: Mapping[str, str], port: int, path: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as written:
        process = subprocess.Popen(command, env=environment, stdout=written, stderr=written)
    try:
        until = time.monotonic() + START_SECONDS
        while not _answers(f"http://127.0.0.1:{port}{path}"):
            if process.poll() is not None or time.monotonic() > until:
                message = f"{command[0]} does not answer; see {log}"
                raise RuntimeError(message)
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
