"""An OpenSearch with its security plugin, TLS and the users and roles of deploy/opensearch."""

import json
import os
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Literal

from filelock import FileLock

from node.folders import Folders, prepare, prepare_server
from node.process import config, daemon
from node.process.lifecycle import folders_of
from node.server.download import addresses, fetch
from node.server.install import ensure_server
from node.server.java import find_java_home
from node.server.pins import OPENSEARCH_VERSION, PinnedFile
from node.settings import read_settings
from tests.support.servers import folder_for_tests, free_port

DEPLOY = Path(__file__).parents[3] / "deploy"
START_SECONDS = 240
# The newest in Maven repositories. It runs in the server of our version once it says that it is made for that, and
# leaves out the libraries that this server brings itself.
PLUGIN = PinnedFile(
    group="org.opensearch.plugin",
    name="opensearch-security",
    version="3.4.0.0",
    packaging="zip",
    size=49_263_978,
    sha256="fc164c084979f7f793d295b6bca56bf8bee76dafb762adef9f14fa872e0a7596",
)
OF_THE_SERVER = ("bc-fips", "bcpkix-fips", "bcutil-fips")


@dataclass(frozen=True)
class SecuredNode:
    """A node, or several of one cluster, that answer users with passwords alone."""

    url: str  # of several, separated by commas
    secrets: Path
    tools: Path
    java: Path
    servers: "list[Server]"

    def environment(self, user: str, password: str) -> dict[str, str]:
        """The settings of a process that is this user."""
        return {
            "GEAR_OPENSEARCH_URL": self.url,
            "GEAR_OPENSEARCH_CA_CERTS": str(self.secrets / "ca.pem"),
            "GEAR_OPENSEARCH_USERNAME": user,
            "GEAR_OPENSEARCH_PASSWORD_FILE": str(self.secrets / password),
        }

    def apply(self, prefix: str = "gear") -> None:
        """Applies the roles for a prefix, and a user for each file of a password, as the compose file does."""
        environment = {
            **os.environ,
            "SECURITY_TOOLS": str(self.tools),
            "OPENSEARCH_JAVA_HOME": str(self.java),
            "GEAR_INDEX_PREFIX": prefix,
        }
        port = self.url.partition(",")[0].rpartition(":")[2]
        files = str(DEPLOY / "opensearch")
        command = ["bash", f"{files}/security.sh", files, str(self.secrets), str(self.secrets), "127.0.0.1", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


@dataclass
class Server:
    """The process of one node, which may be killed and started again with what it has on disk."""

    folders: Folders
    command: list[str]
    url: str
    process: "subprocess.Popen[bytes] | None" = None

    def start(self, authority: Path) -> None:
        """Starts it and waits until it speaks TLS."""
        self.launch()
        self.wait(authority)

    def launch(self) -> None:
        """Starts it."""
        self.process = daemon.launch(self.command, self.folders)

    def wait(self, authority: Path) -> None:
        """Returns once it speaks TLS."""
        assert self.process is not None
        _wait_for_tls(self.url, authority, self.process, self.folders)

    def kill(self) -> None:
        """Ends it as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ends it, where it runs."""
        if self.process is not None and self.process.poll() is None:
            daemon.end(self.process.pid, 10)
            self.process.wait()


@contextmanager
def secured_node(
    count: int = 1, heap: str = "512m", below: Path | None = None, jvm: Literal["laptop", "full"] = "laptop"
) -> Iterator[SecuredNode]:
    """A started node, or so many of one cluster, with certificates and without users; deleted afterwards."""
    home = folder_for_tests(f"secured-{os.getpid()}") if below is None else below / f"secured-{os.getpid()}"
    ports = [free_port() for _ in range(2 * count)]
    secrets = home / "secrets"
    home.mkdir(parents=True, exist_ok=True)
    completed = subprocess.run([DEPLOY / "secrets.sh", secrets], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    servers: list[Server] = []
    try:
        for number, (http, transport) in enumerate(zip(ports[:count], ports[count:], strict=True), 1):
            folders = folders_of(read_settings(dir=home / f"node-{number}"))
            prepare(folders)
            installed, java_home = secured_server(folders)
            prepare_server(folders)
            more = _of_cluster(number, transport, ports[count:]) if count > 1 else {}
            _configure(folders, secrets, http, (servers[0].folders if servers else folders).snapshots, more)
            command = config.java_command(java_home, installed, folders.home, heap=heap, jvm=jvm)
            servers.append(Server(folders, command, f"https://127.0.0.1:{http}"))
            servers[-1].launch()
        for server in servers:
            server.wait(secrets / "ca.pem")
        tools = installed / "plugins" / "opensearch-security" / "tools"
        yield SecuredNode(",".join(server.url for server in servers), secrets, tools, java_home, servers)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(home)


def _of_cluster(number: int, transport: int, all_transports: list[int]) -> dict[str, object]:
    """The settings of one node of several. On loopback the checks of a production start do not apply."""
    names = [f"opensearch-{other}" for other in range(1, len(all_transports) + 1)]
    return {
        "node.name": names[number - 1],
        "transport.port": transport,
        "discovery.seed_hosts": [f"127.0.0.1:{port}" for port in all_transports],
        "cluster.initial_cluster_manager_nodes": names,
    }


def secured_server(folders: Folders) -> tuple[Path, Path]:
    """The server with the plugin in it, made once, and what runs it."""
    with FileLock(folders.cache_lock):
        settings = read_settings()
        plain = ensure_server(folders, settings.repository, print)
        java_home = find_java_home(folders, print)
        secured = plain.with_name(f"{plain.name}-secured-{PLUGIN.sha256[:12]}")
        if not secured.exists():
            downloads = folders.cache / "security"
            downloads.mkdir(exist_ok=True)
            archive = fetch(PLUGIN, downloads, addresses(PLUGIN, settings.repository), print)
            unfinished = secured.with_name(f"{secured.name}.part")
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(plain, unfinished)
            _add_plugin(archive, unfinished / "plugins" / "opensearch-security")
            unfinished.replace(secured)
    return secured, java_home


def _add_plugin(archive: Path, plugin: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        content.extractall(plugin)
    for library in OF_THE_SERVER:
        for file in plugin.glob(f"{library}-[0-9]*.jar"):
            file.unlink()
    descriptor = plugin / "plugin-descriptor.properties"
    options = {"opensearch.version": OPENSEARCH_VERSION, "extended.plugins": "rule-framework"}
    lines = descriptor.read_text(encoding="utf-8").splitlines()
    others = [line for line in lines if line.partition("=")[0] not in options]
    descriptor.write_text(
        "\n".join([*others, *(f"{name}={value}" for name, value in options.items())]), encoding="utf-8"
    )
    for path in [plugin, *plugin.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _configure(folders: Folders, secrets: Path, port: int, snapshots: Path, more: dict[str, object]) -> None:
    """The production's settings, over them those of a node on loopback, over both these."""
    own = config.opensearch_yml(data=folders.data, logs=folders.logs, snapshots=snapshots, port=port, jvm="laptop")
    names = {line.partition(":")[0] for line in own.splitlines()} | set(more)
    replaced = {*more, "discovery.type"} if more else set()
    production = (DEPLOY / "opensearch" / "opensearch.yml").read_text(encoding="utf-8").splitlines()
    lines = [line for line in production if line.partition(":")[0] not in names]
    lines += [line for line in own.splitlines() if line.partition(":")[0] not in replaced]
    lines += [f"{name}: {json.dumps(value)}" for name, value in more.items()]
    (folders.config / "opensearch.yml").write_text("\n".join(lines), encoding="utf-8")
    (folders.config / "log4j2.properties").write_text(config.LOG4J2_PROPERTIES, encoding="utf-8")
    certificates = folders.config / "certificates"
    certificates.mkdir()
    for name in ("ca.pem", "opensearch.pem", "opensearch.key"):
        shutil.copyfile(secrets / name, certificates / name)
    if folders.account is not None:
        for path in [certificates, *certificates.iterdir()]:
            os.chown(path, folders.account.uid, folders.account.gid)
    (folders.config / "opensearch-security").mkdir()


def _wait_for_tls(url: str, certificates: Path, process: "subprocess.Popen[bytes]", folders: Folders) -> None:
    """Returns once the node speaks TLS with a certificate that we trust; it refuses everybody then."""
    trusted = ssl.create_default_context(cafile=str(certificates))
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline:
        assert process.poll() is None, daemon.log_tail(folders)
        with suppress(OSError):
            try:
                urllib.request.urlopen(url, context=trusted, timeout=5).close()
            except urllib.error.HTTPError as response:
                with response:
                    if response.code in (401, 503):
                        return
        sleep(0.2)
    raise AssertionError(f"the secured node did not answer at {url}: {daemon.log_tail(folders)}")
