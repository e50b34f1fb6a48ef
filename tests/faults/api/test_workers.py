"""The workers of `gear-api serve` share what they have read, end when they are told, and are replaced when they die."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.api.two_workers import two_workers
from tests.support.api.waiting import serves, until
from tests.support.app import settings_for
from tests.support.servers import free_port
from tests.support.store.migrated import migrated

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")
START_SECONDS = 120.0  # of a busy machine


@dataclass(frozen=True)
class Service:
    """Two workers that were just started, at an address."""

    url: str
    supervisor: psutil.Process


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """A service without an engine; its log is in `log`."""
    settings = settings_for("http://127.0.0.1:1", "t", tmp_path)
    await migrated(settings.database_url)
    with two_workers(settings, tmp_path) as (url, process):
        yield Service(url, psutil.Process(process))


async def serves_anew(url: str) -> bool:
    """Whether it answers a connection of its own: one that was kept ends with its worker."""
    async with httpx.AsyncClient(base_url=url, verify=False) as client:
        return await serves(client)


async def test_workers_share_their_memory_and_one_that_dies_is_replaced(service: Service, tmp_path: Path) -> None:
    await until(partial(serves_anew, service.url), START_SECONDS)
    supervisor = service.supervisor
    first = supervisor.children()
    assert len(first) == 2
    for worker in first:
        memory = worker.memory_full_info()
        assert memory.uss < memory.rss / 2
    for worker in first:
        worker.kill()

    await until(lambda: len(set(supervisor.children()) - set(first)) == 2)
    await until(partial(serves_anew, service.url))
    assert (tmp_path / "log").read_text().count("a worker ended unasked and was replaced") == 2


async def test_a_worker_for_which_there_is_no_room_is_tried_again(service: Service, tmp_path: Path) -> None:
    await until(partial(serves_anew, service.url), START_SECONDS)
    supervisor = service.supervisor
    first = supervisor.children()
    files = supervisor.rlimit(psutil.RLIMIT_NOFILE)
    supervisor.rlimit(psutil.RLIMIT_NOFILE, (supervisor.num_fds(), files[1]))  # no pipe to a worker can be opened
    first[0].kill()

    async def failed() -> bool:
        return "a worker could not be started and is tried again" in (tmp_path / "log").read_text()

    async def replaced() -> bool:
        return len({each for each in supervisor.children() if each.status() != psutil.STATUS_ZOMBIE}) == 2

    await until(failed)
    assert await serves_anew(service.url), "by the other"
    supervisor.rlimit(psutil.RLIMIT_NOFILE, files)
    await until(replaced)
    assert first[1] in supervisor.children()


async def test_workers_that_a_signal_asks_for_come_when_there_is_room(tmp_path: Path) -> None:
    """SIGHUP asks for new ones in the place of all, SIGTTIN for one more."""
    script = tmp_path / "service.py"
    script.write_text(
        """
import sys
import uvicorn
from api.http.workers import Supervisor

async def serving(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body"})

config = uvicorn.Config(serving, lifespan="off", port=int(sys.argv[1]), workers=2, log_config=None)
Supervisor(config, [config.bind_socket()], lambda deaths: None).run()
"""
    )
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (tmp_path / "log").open("wb") as log:
        process = psutil.Popen([sys.executable, script, str(port)], stdout=log, stderr=log)

    async def failed() -> bool:
        return (tmp_path / "log").read_text().count("a worker could not be started and is tried again") >= 2

    async def replaced() -> bool:
        living = {each for each in process.children() if each.status() != psutil.STATUS_ZOMBIE}
        return len(living) == 3 and living.isdisjoint(first)

    try:
        await until(partial(serves_anew, url), START_SECONDS)
        first = process.children()
        files = process.rlimit(psutil.RLIMIT_NOFILE)
        process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds(), files[1]))  # no pipe to a worker can be opened
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTTIN)
        await until(failed)
        assert process.children() == first
        assert await serves_anew(url)
        process.rlimit(psutil.RLIMIT_NOFILE, files)
        await until(replaced)
        assert await serves_anew(url)
    finally:
        process.terminate()
        process.wait(30)


def test_however_often_there_is_no_room_for_a_process_nothing_stays_open(tmp_path: Path) -> None:
    """Or the descriptors would run out, and no worker could be started when there is room again."""
    script = tmp_path / "tries.py"
    script.write_text(
        """
import gc, multiprocessing.popen_fork, os, resource
import uvicorn
from api.http.workers import Worker

async def unused(scope, receive, send): ...

def descriptors_after_tries(count):
    for _ in range(count):
        try:
            Worker(config, []).start()
        except BlockingIOError:
            continue
        raise AssertionError("it was started")
    gc.collect()
    return len(os.listdir("/proc/self/fd"))

config = uvicorn.Config(unused, log_config=None)
if os.getuid() == 0:
    os.setuid(65534)  # the limit does not hold for root; modules are read before, which others may not
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
first = descriptors_after_tries(1)
print("more:", descriptors_after_tries(20) - first)
"""
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=START_SECONDS)
    assert "more: 0" in ended.stdout, ended.stderr


def test_workers_that_cannot_start_end_their_supervisor(tmp_path: Path) -> None:
    script = tmp_path / "service.py"
    script.write_text(
        """
import uvicorn
from api.http.workers import Supervisor

async def failing(scope, receive, send):
    raise RuntimeError("it cannot start")

config = uvicorn.Config(failing, lifespan="on", port=0, workers=2, log_config=None)
supervisor = Supervisor(config, [config.bind_socket()], lambda deaths: None)
supervisor.run()
print("failed:", supervisor.has_failed)
"""
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=START_SECONDS)
    assert "failed: True" in ended.stdout, ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_in_the_moment_of_a_start_is_not_lost(service: Service, number: signal.Signals) -> None:
    supervisor = service.supervisor

    await until(lambda: len(supervisor.children()) == 2, START_SECONDS)
    workers = supervisor.children()
    supervisor.send_signal(number)

    await until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in workers))
