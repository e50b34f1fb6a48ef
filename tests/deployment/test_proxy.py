"""The proxy of compose.production.yml: a real HAProxy with its configuration before real servers."""

import asyncio
import json
import secrets
import shutil
import ssl
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic

import httpx
import pytest

from api.settings import Settings
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import serves, until
from tests.support.app import settings_for
from tests.support.faults.restarted import serving, token_of
from tests.support.indices import drop_indices
from tests.support.servers import free_port

pytestmark = [pytest.mark.deployment, pytest.mark.timeout(400)]

DEPLOY = Path(__file__).parents[2] / "deploy"
DRAIN_SECONDS = 5.0  # the proxy looks each second
CHECK_SECONDS = 2.0  # a check may take (`timeout check`)
FORWARDED = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}


@pytest.fixture
def settings(opensearch_url: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings of servers with a few items and without limits."""
    prefix = f"t{secrets.token_hex(5)}"
    (platform,) = read_platforms()
    served = settings_for(opensearch_url, prefix, tmp_path, rate_limit="", address_rate_limit="")
    put_index(served, platform, map(simple_item, range(1, 51)))
    yield served
    drop_indices(opensearch_url, prefix)


class Proxy:
    """A running HAProxy and what it logged."""

    def __init__(self, port: int, certificates: Path, log: Path) -> None:
        trusted = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
        self.client = httpx.AsyncClient(base_url=f"https://localhost:{port}", verify=trusted, timeout=30)
        self.log = log
        self._port, self._trusted = port, trusted

    async def refusal(self, head: str) -> str:
        """The answer to a request of which only the head is sent; HAProxy 3 leaves its connection open."""
        reader, writer = await asyncio.open_connection("localhost", self._port, ssl=self._trusted)
        try:
            writer.write(head.encode())
            return (await asyncio.wait_for(reader.readuntil(b"}}"), 30)).decode()
        finally:
            writer.close()

    def has_back(self, number: int) -> bool:
        """Whether a server that was down passes its checks again."""
        return self.has_logged(f"Server api/api{number} is UP")

    def has_logged(self, text: str) -> bool:
        """Whether the log holds this; a request's line may come after its response."""
        return text in self.log.read_text(encoding="utf-8")

    async def until_ready(self) -> None:
        """Waits until requests reach a server."""
        await until(partial(serves, self.client))


def configuration(folder: Path, port: int, servers: Sequence[int | str]) -> Path:
    """The configuration with another port, another certificate, and servers of this machine instead of a name's.

    A server is its port, with settings of its own behind it.
    """
    text, template, _ = (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8").partition("    server-template")
    assert template
    for old, new in ((":8443", f"127.0.0.1:{port}"), ("/run/secrets/proxy.pem", str(folder / "proxy.pem"))):
        assert old in text
        text = text.replace(old, new)
    file = folder / "haproxy.cfg"
    lines = [f"    server api{number} 127.0.0.1:{server}\n" for number, server in enumerate(servers)]
    file.write_text(text + "".join(lines), encoding="utf-8")
    return file


def program() -> str:
    """HAProxy, or skips."""
    executable = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin") or shutil.which("haproxy")
    if executable is None:
        pytest.skip("there is no haproxy to run the configuration with: apt install haproxy")
    return executable


@asynccontextmanager
async def proxy_for(folder: Path, *servers: int | str) -> AsyncIterator[Proxy]:
    """A proxy before these ports."""
    haproxy, port, certificates = program(), free_port(), folder / "certificates"
    makes = await asyncio.create_subprocess_exec(DEPLOY / "secrets.sh", certificates, stderr=subprocess.DEVNULL)
    assert await makes.wait() == 0
    file = configuration(certificates, port, servers)
    written = folder / "haproxy.log"
    with written.open("wb") as log:
        process = await asyncio.create_subprocess_exec(haproxy, "-f", str(file), stdout=log, stderr=log)
    proxy = Proxy(port, certificates, written)
    try:
        yield proxy
        assert process.returncode is None, written.read_text(encoding="utf-8")
    finally:
        await proxy.client.aclose()
        if process.returncode is None:
            process.terminate()
        await process.wait()


def test_the_configuration_is_valid_without_a_warning(tmp_path: Path) -> None:
    subprocess.run([DEPLOY / "secrets.sh", tmp_path], check=True, capture_output=True)
    command = [program(), "-c", "-f", str(configuration(tmp_path, 8443, [8000]))]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


async def test_what_clients_say_and_send_is_bounded(settings: Settings, tmp_path: Path) -> None:
    headers = await token_of(settings)
    written = tmp_path / "server.log"
    async with serving(settings, 1, 0, written) as server, proxy_for(tmp_path, server.port) as proxy:
        await proxy.until_ready()
        search = {"platform": 730, "limit": 1}
        own = f"own-{uuid.uuid4()}"
        response = await proxy.client.post("/v1/gear/search", json=search, headers={**headers, "X-Request-Id": own})
        assert (response.status_code, response.headers["X-Request-Id"]) == (200, own)
        response = await proxy.client.post("/v1/gear/search", json=search, headers={**headers, "X-Request-Id": "a b"})
        assert len(response.headers["X-Request-Id"]) == 36
        for identity in (own, response.headers["X-Request-Id"]):
            await until(partial(proxy.has_logged, f"{{{identity}}}"))
        assert response.headers["Strict-Transport-Security"]
        large = await proxy.client.post("/v1/gear/search", content=b"x" * 70_000, headers=headers)
        assert error_of(large, "body_too_large")
        huge = await proxy.refusal(
            "POST /v1/gear/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8400000\r\n\r\n"
        )
        assert huge.startswith("HTTP/1.1 413 ")
        assert '"code":"body_too_large"' in huge
        long = await proxy.client.get("/v1/platforms", headers={**headers, "X-Long": "x" * 40_000})
        assert long.status_code in (400, 414)  # 414 from HAProxy 3 on
        assert error_of(await proxy.client.get("/metrics", headers=headers), "not_found")
        claimed = {**FORWARDED, "X-Request-Id": "claimed"}
        assert (await proxy.client.get("/v1/gear/1", headers=claimed)).status_code == 401
        await server.stop()  # all of its log is written
        lines = [line for line in written.read_text(encoding="utf-8").splitlines() if '"claimed"' in line]
        assert [json.loads(line)["client"] for line in lines] == ["127.0.0.1"], "it believes what the client claims"
        refused = await proxy.client.get("/v1/platforms", headers=headers)
        assert error_of(refused, "overloaded")
        assert refused.headers["Retry-After"]


async def test_servers_are_replaced_without_a_failed_request(settings: Settings, tmp_path: Path) -> None:
    headers = await token_of(settings)
    async with (
        serving(settings, 1, DRAIN_SECONDS) as first,
        serving(settings, 1, DRAIN_SECONDS) as second,
        proxy_for(tmp_path, first.port, second.port) as proxy,
    ):
        await proxy.until_ready()
        ended = asyncio.Event()

        async def traffic() -> list[int]:
            statuses = []
            while not ended.is_set():
                response = await proxy.client.post("/v1/gear/search", json={"platform": 730}, headers=headers)
                statuses.append(response.status_code)
            return statuses

        clients = [asyncio.create_task(traffic()) for _ in range(4)]
        for number, server in enumerate((first, second)):
            await server.stop()
            await server.start()
            await until(partial(proxy.has_back, number), otherwise="the proxy does not see the new server")
        ended.set()
        statuses = [status for statuses in await asyncio.gather(*clients) for status in statuses]
    assert set(statuses) == {200}
    assert len(statuses) > 100


async def test_one_slow_check_takes_no_server_out(tmp_path: Path) -> None:
    """A busy machine is slow to answer a check of the only server; requests go on."""
    late = asyncio.Event()

    async def response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0]
        if b"/health/ready" in line and started.is_set() and not late.is_set():
            late.set()
            await asyncio.sleep(CHECK_SECONDS + 0.5)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        writer.close()

    started = asyncio.Event()
    server = await asyncio.start_server(response, "127.0.0.1", 0)
    async with server, proxy_for(tmp_path, server.sockets[0].getsockname()[1]) as proxy:
        await proxy.until_ready()
        started.set()
        await asyncio.wait_for(late.wait(), 30)
        end = monotonic() + CHECK_SECONDS + 1.5
        statuses = []
        while monotonic() < end:
            statuses.append((await proxy.client.get("/v1/platforms")).status_code)
            await asyncio.sleep(0.05)
    assert set(statuses) == {200}


async def test_servers_that_do_not_listen_yet_fail_no_request(tmp_path: Path) -> None:
    """A name gains servers before they listen, as in a roll-over; their first check has no answer yet."""

    async def response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)  # the server that listens is always the busiest one
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        writer.close()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    serves = await asyncio.start_server(response, "127.0.0.1", 0)
    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    listening, checked = (server.sockets[0].getsockname()[1] for server in (serves, silent))
    servers = (f"{free_port()} port {checked}", f"{free_port()} port {checked}", listening)
    async with serves, silent, proxy_for(tmp_path, *servers) as proxy:

        async def traffic() -> list[int]:
            statuses: list[int] = []
            while len(statuses) < 10:
                try:
                    statuses.append((await proxy.client.get("/v1/platforms")).status_code)
                except httpx.TransportError:  # the proxy does not listen yet
                    await asyncio.sleep(0.01)
            return statuses

        async with asyncio.timeout(30):
            all_statuses = await asyncio.gather(*(traffic() for _ in range(4)))
    assert {status for statuses in all_statuses for status in statuses} == {200}
