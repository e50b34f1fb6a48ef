"""An OpenSearch with its security plugin, TLS and the users and roles of deploy/opensearch."""

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

from filelock import FileLock

from node.folders import Folders, prepare, prepare_server
from node.process import config, daemon
from node.process.lifecycle import folders_of
from node.server.download import addresses, fetch
from node.server.install import ensure_server
from node.server.java import JavaRuntime, find_runtime
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
    """A node that answers users with passwords alone."""

    url: str
    secrets: Path
    tools: Path
    java: Path

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
        port = self.url.rpartition(":")[2]
        files = str(DEPLOY / "opensearch")
        command = ["bash", f"{files}/security.sh", files, str(self.secrets), str(self.secrets), "127.0.0.1", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def secured_node() -> Iterator[SecuredNode]:
    """A started node with its security set up; deleted afterwards."""
    home = folder_for_tests(f"secured-{os.getpid()}")
    port = free_port()
    folders = folders_of(read_settings(dir=home))
    prepare(folders)
    server, runtime = secured_server(folders)
    prepare_server(folders)
    secrets = home / "secrets"
    made = subprocess.run([DEPLOY / "secrets.sh", secrets], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    _configure(folders, secrets, port)
    launch = config.Launch(
        java=runtime.java, java_major=runtime.major, server=server, home=home, heap="512m", jvm="laptop"
    )
    process = daemon.launch(
        config.java_command(launch, (server / "config" / "jvm.options").read_text(encoding="utf-8")), folders
    )
    tools = server / "plugins" / "opensearch-security" / "tools"
    node = SecuredNode(f"https://127.0.0.1:{port}", secrets, tools, runtime.home)
    try:
        _wait_for_tls(node.url, secrets / "ca.pem", process, folders)
        yield node
    finally:
        daemon.end(process.pid, 10)
        process.wait()
        shutil.rmtree(home)


def secured_server(folders: Folders) -> tuple[Path, JavaRuntime]:
    """The server with the plugin in it, made once, and what runs it."""
    with FileLock(folders.cache_lock):
        settings = read_settings()
        plain = ensure_server(folders, settings.repository, print)
        runtime = find_runtime(settings.java_home, folders, print)
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
    return secured, runtime


def _add_plugin(archive: Path, plugin: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        content.extractall(plugin)
    for library in OF_THE_SERVER:
        for file in plugin.glob(f"{library}-[0-9]*.jar"):
            file.unlink()
    descriptor = plugin / "plugin-descriptor.properties"
    options = {"opensearch.version": OPENSEARCH_VERSION, "extended.plugins": "rule-framework"}
    lines = descriptor.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.partition("=")[0] not in options]
    descriptor.write_text("\n".join([*kept, *(f"{name}={value}" for name, value in options.items())]), encoding="utf-8")
    for path in [plugin, *plugin.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _configure(folders: Folders, secrets: Path, port: int) -> None:
    """The production's settings, and over them those of one node on loopback."""
    own = config.opensearch_yml(data=folders.data, logs=folders.logs, snapshots=folders.home / "snapshots", port=port)
    names = {line.partition(":")[0] for line in own.splitlines()}
    production = (DEPLOY / "opensearch" / "opensearch.yml").read_text(encoding="utf-8").splitlines()
    shared = [line for line in production if line.partition(":")[0] not in names]
    (folders.config / "opensearch.yml").write_text("\n".join([*shared, own]), encoding="utf-8")
    (folders.config / "log4j2.properties").write_text(config.log4j2_properties(), encoding="utf-8")
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
            except urllib.error.HTTPError as answer:
                with answer:
                    if answer.code in (401, 503):
                        return
        sleep(0.2)
    raise AssertionError(f"the secured node did not answer at {url}: {daemon.log_tail(folders)}")
