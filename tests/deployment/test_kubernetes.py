"""The chart and the example of its databases at a real API server: what it takes, refuses and warns of."""

import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
import yaml

from tests.support.deployment.chart import CHART, EVERYTHING, NEEDED, SIZES, command, pod_of, template
from tests.support.deployment.kubernetes import KubernetesServer, documents, kubernetes_server

pytestmark = [pytest.mark.deployment, pytest.mark.timeout(400)]

DATABASES = CHART.parents[1] / "kubernetes" / "databases.yaml"
DEFINITIONS = sorted((Path(__file__).parent / "crds").glob("*.yaml.gz"))
HOOK_SECONDS = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesServer]:
    """It knows the kinds of the operators too."""
    with kubernetes_server(tmp_path_factory.mktemp("kubernetes")) as started:
        for file in DEFINITIONS:
            started.define(gzip.decompress(file.read_bytes()).decode())
        yield started


@pytest.mark.parametrize("size", SIZES)
def test_every_manifest_is_accepted_without_a_warning(server: KubernetesServer, size: str) -> None:
    namespace = server.namespace(f"accepted-{size}")
    kinds = {server.create(manifest, namespace)["kind"] for manifest in documents(template(*SIZES[size]))}
    assert kinds == {
        *(
            "CronJob",
            "Deployment",
            "HorizontalPodAutoscaler",
            "Ingress",
            "Job",
            "NetworkPolicy",
            "PersistentVolumeClaim",
        ),
        *("PodDisruptionBudget", "PodMonitor", "Service", "ServiceMonitor"),
    }


def test_a_field_that_the_server_does_not_know_would_be_refused(server: KubernetesServer) -> None:
    namespace = server.namespace("refused")
    manifests = [yaml.safe_load(part) for part in documents(template() + "---\n" + DATABASES.read_text("utf-8"))]
    assert len(manifests) > 15
    for manifest in manifests:
        manifest["spec"]["unknownOfTheTests"] = 1
        response = server.send(json.dumps(manifest), namespace, dryRun="All")
        assert (response.status_code, "unknownOfTheTests" in response.text) == (400, True), response.text


def test_every_pod_keeps_to_the_restricted_standard(server: KubernetesServer) -> None:
    namespace = server.namespace("pods")
    pods = {}
    for manifest in map(yaml.safe_load, documents(template())):
        pod = pod_of(manifest)
        if pod is not None:
            name = manifest["metadata"]["name"]
            pods[name] = {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": {**pod["metadata"], "name": name}}
            server.create(json.dumps(pods[name]), namespace, dryRun="All")
    assert len(pods) == 6
    pods["shop-gear"]["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    response = server.send(json.dumps(pods["shop-gear"]), namespace, dryRun="All")
    assert (response.status_code, "allowPrivilegeEscalation" in response.text) == (403, True), (
        "the standard is not enforced"
    )


def test_the_example_of_the_databases_is_accepted(server: KubernetesServer) -> None:
    namespace = server.namespace("databases")
    created = [server.create(part, namespace) for part in documents(DATABASES.read_text(encoding="utf-8"))]
    assert [each["kind"] for each in created] == ["OpenSearchCluster", "Cluster"]


def test_a_small_release_becomes_a_large_one_and_leaves_its_records(server: KubernetesServer) -> None:
    namespace = server.namespace("release")
    deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/shop-gear"
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    _release(server, namespace, "install", str(CHART), *SIZES["small"])
    assert _memory(server, deployment) == "1Gi"
    _release(server, namespace, "upgrade", str(CHART), *SIZES["large"])
    assert _memory(server, deployment) == "4Gi"
    _release(server, namespace, "uninstall")
    assert server.client.get(deployment).status_code == 404
    (claim,) = server.client.get(claims).json()["items"]
    assert (claim["metadata"]["name"], claim["metadata"].get("deletionTimestamp")) == ("shop-gear-records", None)
    _release(server, namespace, "install", str(CHART), *SIZES["small"])


def _release(server: KubernetesServer, namespace: str, verb: str, *options: str) -> None:
    """Runs helm, and ends the migration as its pod would: nothing runs pods here."""
    job = f"/apis/batch/v1/namespaces/{namespace}/jobs/shop-gear-migrate"
    place = ("--namespace", namespace, "--kubeconfig", str(server.configuration))
    values = NEEDED | EVERYTHING if verb != "uninstall" else {}
    with subprocess.Popen(
        command(verb, "shop", *options, *place, values=values),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        deadline = monotonic() + HOOK_SECONDS
        ended: set[str] = set()
        while process.poll() is None:
            assert monotonic() < deadline, f"helm {verb} waits for something"
            response = server.client.get(job)
            if response.status_code == 200 and response.json()["metadata"]["uid"] not in ended:
                policy = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/shop-gear-migrate"
                assert server.client.get(policy).status_code == 200, "it comes first: without it nothing may be reached"
                server.complete(job)
                ended.add(response.json()["metadata"]["uid"])
            sleep(0.1)
        assert process.stdout is not None
        output = process.stdout.read()
    assert process.returncode == 0, output
    assert "warning" not in output.lower(), output
    assert len(ended) == (0 if verb == "uninstall" else 1)


def _memory(server: KubernetesServer, deployment: str) -> str:
    (container,) = server.client.get(deployment).json()["spec"]["template"]["spec"]["containers"]
    memory: str = container["resources"]["limits"]["memory"]
    return memory
