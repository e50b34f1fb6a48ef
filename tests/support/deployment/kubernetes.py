"""An API server of Kubernetes with its etcd on loopback, which accepts or refuses manifests.

Nothing runs what was accepted: there are no nodes and no controllers.
"""

import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import httpx
import yaml

from tests.support.api.waiting import wait_until
from tests.support.deployment.tools import tool
from tests.support.servers import free_port
from tests.support.services.certificates import certificates

_WAY: Final = "make test-kubernetes builds it where Go is"
_START_SECONDS: Final = 120.0  # of a busy machine
_TOKEN: Final = secrets.token_hex(16)


@dataclass(frozen=True)
class KubernetesServer:
    """A running API server, to which everything is allowed."""

    client: httpx.Client
    configuration: Path
    """For `--kubeconfig`."""

    def namespace(self, name: str) -> str:
        """Makes a namespace that takes only pods of the restricted standard, and warns of those that others make."""
        standard = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": standard}}
        self.create(json.dumps(manifest), "default")
        return name

    def define(self, definition: str) -> None:
        """Adds a kind of another project: a CustomResourceDefinition."""
        spec = self.create(definition, "default")["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
        kind = spec["names"]["kind"]
        wait_until(lambda: kind in self.client.get(path).text, _START_SECONDS, f"there is no {kind} in {path}")

    def send(self, manifest: str, namespace: str, **options: str) -> httpx.Response:
        """Asks to create what the YAML says: fields that are unknown or there twice are refused."""
        head = yaml.safe_load(manifest)
        path, in_namespaces = self._kind(head["apiVersion"], head["kind"])
        path = path.replace("{namespace}", f"/namespaces/{namespace}" if in_namespaces else "")
        parameters = {"fieldValidation": "Strict", **options}
        headers = {"Content-Type": "application/yaml"}
        return self.client.post(path, params=parameters, headers=headers, content=manifest.encode())

    def create(self, manifest: str, namespace: str, **options: str) -> dict[str, Any]:
        """Creates it; fails where the server refuses it or warns."""
        response = self.send(manifest, namespace, **options)
        assert response.status_code == 201, f"{response.text}\n{manifest}"
        warnings = response.headers.get_list("Warning")
        assert warnings == [], f"{warnings}\n{manifest}"
        created: dict[str, Any] = response.json()
        return created

    def complete(self, job: str) -> None:
        """Ends the job of this path as its controller would once a pod has done it."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": now}
            for kind in ("SuccessCriteriaMet", "Complete")
        ]
        status = {"startTime": now, "completionTime": now, "succeeded": 1, "conditions": conditions}
        headers = {"Content-Type": "application/merge-patch+json"}
        self.client.patch(f"{job}/status", content=json.dumps({"status": status}), headers=headers).raise_for_status()

    def _kind(self, version: str, kind: str) -> tuple[str, bool]:
        """The path of a kind's objects, and whether they are in namespaces."""
        base = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        resources = self.client.get(base).raise_for_status().json()["resources"]
        (resource,) = [each for each in resources if each["kind"] == kind and "/" not in each["name"]]
        return f"{base}{{namespace}}/{resource['name']}", resource["namespaced"]


def documents(text: str) -> list[str]:
    """The YAML documents of a file, as they are written."""
    return [part for part in text.split("\n---\n") if yaml.safe_load(part)]


@contextmanager
def kubernetes_server(folder: Path) -> Iterator[KubernetesServer]:
    """A started API server that keeps everything in the folder; skips where it was not built."""
    etcd, server = tool("etcd", _WAY), tool("kube-apiserver", _WAY)
    _, trusted = certificates(folder, "localhost")
    tokens = folder / "tokens.csv"
    tokens.write_text(f"{_TOKEN},tester,1,system:masters\n", encoding="utf-8")
    store, port, log = f"http://127.0.0.1:{free_port()}", free_port(), folder / "server.log"
    with (
        _running(etcd, _etcd_options(folder, store), folder / "etcd.log"),
        _running(server, _server_options(folder, store, port), log) as process,
        httpx.Client(base_url=f"https://localhost:{port}", verify=trusted, timeout=60) as client,
    ):
        client.headers["Authorization"] = f"Bearer {_TOKEN}"
        _wait_until_ready(client, process, log)
        yield KubernetesServer(client, _configuration(folder, port))


def _etcd_options(folder: Path, store: str) -> dict[str, object]:
    peers = f"http://127.0.0.1:{free_port()}"
    return {
        "data-dir": folder / "etcd",
        "listen-client-urls": store,
        "advertise-client-urls": store,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"default={peers}",
        "unsafe-no-fsync": "true",
    }


def _server_options(folder: Path, store: str, port: int) -> dict[str, object]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    return {
        "etcd-servers": store,
        "bind-address": "127.0.0.1",
        "external-hostname": "localhost",
        "secure-port": port,
        "tls-cert-file": certificate,
        "tls-private-key-file": key,
        "cert-dir": folder,
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.96.0.0/16",
        "service-account-issuer": "https://localhost",
        "service-account-key-file": certificate,
        "service-account-signing-key-file": key,
        "token-auth-file": folder / "tokens.csv",
        "anonymous-auth": "false",
        "authorization-mode": "AlwaysAllow",
        "disable-admission-plugins": "ServiceAccount",  # no controller makes the accounts
    }


@contextmanager
def _running(program: str, options: dict[str, object], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The program, which writes what it says to a file; ended afterwards."""
    command = [program, *(f"--{name}={value}" for name, value in options.items())]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_until_ready(client: httpx.Client, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = monotonic() + _START_SECONDS
    while not _is_ready(client):
        assert process.poll() is None, log.read_text(encoding="utf-8")[-4000:]
        assert monotonic() < deadline, log.read_text(encoding="utf-8")[-4000:]
        sleep(0.2)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _configuration(folder: Path, port: int) -> Path:
    """The file by which clients find the server and who they are."""
    cluster = {"server": f"https://localhost:{port}", "certificate-authority": str(folder / "certificate.pem")}
    file = folder / "kubeconfig.json"
    manifest = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "tests", "user": {"token": _TOKEN}}],
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "current-context": "tests",
    }
    file.write_text(json.dumps(manifest), encoding="utf-8")
    return file
