"""What a run at size is on: the secured cluster, a database with its standby, the listings, and the service."""

import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from bench.peers import services
from bench.peers.checkout import HERE
from bench.peers.data import PLATFORM, Data
from tests.support.api.platform_files import platform_folder
from tests.support.node.secured import SecuredNode, secured_node
from tests.support.store.postgres import Postgres, Standby, running_postgres, standby_of

NODES = 3
USERS = ("api", "loader", "writer")
ALIAS = f"gear-{PLATFORM}"
WAIT_SECONDS = 3600.0
CHANGED_LISTINGS = 80_000  # of the first ones, which are changed and ordered


@dataclass(frozen=True)
class Scale:
    """The parts; commands run as the user of the engine that production gives them."""

    listings: Sequence[dict[str, Any]]  # the first ones: the file of all goes once it is loaded
    node: SecuredNode
    primary: Postgres
    standby: Standby
    data: Data
    admin: httpx.Client
    platforms: Path

    @property
    def database_url(self) -> str:
        """The address of the database, whichever of the two is the primary."""
        folders = f"{self.primary.folder},{self.standby.folder}"
        return f"postgresql+asyncpg://postgres@/postgres?host={folders}&port=5432,5432"

    def settings(self, user: str) -> dict[str, str]:
        """The settings of a process that is this user."""
        return {
            **self.node.environment(f"gear-{user}", f"opensearch_{user}_password"),
            "GEAR_INDEX_PREFIX": "gear",
            "GEAR_PLATFORM_FILES": str(self.platforms),
            "GEAR_DATABASE_URL": self.database_url,
            "GEAR_DIGEST_KEY_FILE": str(self.node.secrets / "digest_key"),
            "GEAR_ENCRYPTION_KEYRING": str(self.node.secrets / "encryption_keys"),
        }

    def indexer(self, *arguments: str) -> None:
        """Runs a command of the indexer as the loader; raises RuntimeError where it fails."""
        HERE.run("gear-indexer", *arguments, "--platform", str(PLATFORM), settings=self.settings("loader"))

    @contextmanager
    def serving(self) -> Iterator[services.Service]:
        """Two processes of the API, as its user."""
        settings = {**self.settings("api"), "GEAR_SEARCH_TIMEOUT": "2.5"}
        url = self.node.url
        with services.gear_api(
            url, "gear", self.data.folder, workers=2, database_url=self.database_url, settings=settings
        ) as service:
            yield service

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request to the engine as its administrator, who has a certificate."""
        return self.admin.request(method, path, json=body).raise_for_status().json()

    def until(self, condition: Callable[[dict[str, Any]], bool], index: str = "") -> float:
        """The seconds until the health of the cluster, or of an index, meets the condition."""
        started = time.monotonic()
        while not condition(self.ask("GET", f"/_cluster/health/{index}")):
            if time.monotonic() - started > WAIT_SECONDS:
                message = f"after {WAIT_SECONDS:.0f} s: {self.ask('GET', '/_cluster/health')}"
                raise RuntimeError(message)
            time.sleep(0.2)
        return time.monotonic() - started


@contextmanager
def running(items: int, shards: int, folder: Path, heap: str) -> Iterator[Scale]:
    """The parts, started and empty; the file of listings is in the folder until it is loaded."""
    with tempfile.TemporaryDirectory(prefix="gear-scale-", dir="/var/tmp") as name:
        below = Path(name)
        below.chmod(0o755)
        with (
            secured_node(NODES, heap, below, "full") as node,
            running_postgres() as primary,
            standby_of(primary) as standby,
            _administrator(node) as admin,
        ):
            for user in USERS:
                (node.secrets / f"opensearch_{user}_password").write_text(f"of {user} at size\n", encoding="utf-8")
            node.apply()
            data = Data(items, node.url, folder)
            data.sample()
            listings = list(islice(data.items(), CHANGED_LISTINGS))
            scale = Scale(listings, node, primary, standby, data, admin, _platform_files(below, shards))
            HERE.run("gear-api", "migrate", settings=scale.settings("api"))
            yield scale


def _platform_files(folder: Path, shards: int) -> Path:
    """The platform's files with so many shards."""
    files = platform_folder(folder, languages="*")
    file = files / f"{PLATFORM}.toml"
    file.write_text(f"shards = {shards}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    return files


@contextmanager
def _administrator(node: SecuredNode) -> Iterator[httpx.Client]:
    """A client of the first node, by the certificate of the administrator."""
    trusted = ssl.create_default_context(cafile=str(node.secrets / "ca.pem"))
    trusted.load_cert_chain(node.secrets / "admin.pem", node.secrets / "admin.key")
    with httpx.Client(base_url=node.servers[0].url, verify=trusted, timeout=WAIT_SECONDS) as client:
        yield client
