"""The Helm chart: linted, rendered, checked against the schemas of Kubernetes and what the service promises."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from api.settings import Settings
from indexer.cli.main import main
from tests.support.deployment.chart import CHART, EVERYTHING, NEEDED, SIZES, VERSIONS, helm, pods, rendered
from tests.support.deployment.tools import tool

pytestmark = pytest.mark.deployment


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", VERSIONS)  # what a version deprecates is a finding
def test_the_chart_passes_the_linter(size: str, version: str) -> None:
    options = ("--strict", "--kube-version", f"{version}.0")
    done = helm("lint", *options, str(CHART), *SIZES[size], values=NEEDED | EVERYTHING)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_fits_the_schemas_of_kubernetes(size: str, version: str, tmp_path: Path) -> None:
    validator = tool("kubernetes-validate", "make var/tools")
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(rendered(*SIZES[size])), encoding="utf-8")
    command = [validator, "-k", version, "--strict", str(file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    warnings = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("WARN")]
    assert [line for line in warnings if "Monitor" not in line] == []  # no kinds of Kubernetes itself


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"image.digest": "latest"}, "image.digest"),
        ({"image.digest": ""}, "image.digest is needed"),
        ({"publicUrl": "http://gear.example.com"}, "publicUrl"),
        ({"opensearch.url": "http://opensearch:9200"}, "opensearch.url"),
        ({"api.drainSeconds": "1"}, "api.drainSeconds"),
        ({"api.replica": "3"}, "replica"),
        ({"settings.PASSWORD": "x"}, "PASSWORD"),
        ({"commands.records.size": "much"}, "commands.records.size"),
        ({"commands.records.claimName": "x"}, "claimName"),
        ({"load.source": ""}, "load.source is needed"),
        ({"follow.topics.listings.source": "-"}, "follow.topics.listings.source"),
        (
            {"follow.topics.listings.source": "kafka://user:password@kafka:9092/listings"},
            "follow.topics.listings.source",
        ),
        ({"follow.topics.others.source": "kafka://kafka:9092/others"}, "platform"),
        ({"follow.topics.Others.platform": "cs2"}, "Others"),
    ],
)
def test_wrong_values_are_refused_with_their_name(values: dict[str, str], complaint: str) -> None:
    done = helm("template", "shop", str(CHART), "--kube-version", "1.37.0", values=NEEDED | EVERYTHING | values)
    assert done.returncode != 0
    assert complaint in done.stderr.replace("/", ".")


def test_no_pod_may_more_than_it_needs() -> None:
    for name, pod in pods(rendered()).items():
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert container["resources"]["limits"]["memory"], name
        assert "@sha256:" in container["image"], name


def test_secrets_are_files_and_only_those_that_a_pod_needs() -> None:
    expected = {
        "api": {"database", "database-ca", "keys", "opensearch", "opensearch-ca", "rate-limits"},
        "load": {"database", "database-ca", "keys", "opensearch", "opensearch-ca"},
        "follow": {"database", "database-ca", "keys", "opensearch", "opensearch-ca"},
        "commands": {"database", "database-ca", "keys", "opensearch", "opensearch-ca"},
        "deliver": {"database", "database-ca", "keys"},
        "migrate": {"database", "database-ca", "keys"},
    }
    secrets = {}
    for name, pod in pods(rendered()).items():
        (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "secrets"]
        paths = [item["path"] for source in volume["projected"]["sources"] for item in source["secret"]["items"]]
        secrets[name] = {path.partition("/")[0] for path in paths}
        (container,) = pod["containers"]
        assert not [entry for entry in container["env"] if "valueFrom" in entry]
        files = [entry["value"] for entry in container["env"] if entry["value"].startswith("/run/secrets/gear/")]
        assert {file.removeprefix("/run/secrets/gear/") for file in files} <= set(paths), name
    assert secrets == expected


def test_every_variable_is_a_setting() -> None:
    settings = {f"GEAR_{name.upper()}" for name in Settings.model_fields}
    for name, pod in pods(rendered(values={"settings.GEAR_FEE_RATE": "0.05"})).items():
        names = {entry["name"] for entry in pod["containers"][0]["env"]}
        assert names <= settings, name
        assert "GEAR_FEE_RATE" in names, name


def test_a_setting_with_a_value_of_its_own_is_refused() -> None:
    names = {entry["name"] for pod in pods(rendered()).values() for entry in pod["containers"][0]["env"]}
    done = helm("lint", str(CHART), values=NEEDED | EVERYTHING | {f"settings.{name}": "x" for name in names})
    assert done.returncode != 0
    assert [name for name in sorted(names) if name not in done.stdout] == []


@pytest.mark.parametrize("claim", ["", "shared"])
def test_ids_of_forgotten_orders_are_on_a_volume(claim: str) -> None:
    manifests = rendered(values={"commands.records.claim": claim, "commands.records.storageClass": "fast"})
    pod = pods(manifests)["commands"]
    (file,) = [each["value"] for each in pod["containers"][0]["env"] if each["name"] == "GEAR_ERASURE_LOG"]
    (mount,) = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "records"]
    assert (mount["mountPath"], mount.get("readOnly", False)) == (str(Path(file).parent), False)
    (volume,) = [each["persistentVolumeClaim"] for each in pod["volumes"] if each["name"] == "records"]
    claims = [manifest for manifest in manifests if manifest["kind"] == "PersistentVolumeClaim"]
    if claim:
        assert (volume["claimName"], claims) == (claim, [])
        return
    (volume_claim,) = claims
    assert volume_claim["metadata"]["name"] == volume["claimName"]
    assert volume_claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert volume_claim["spec"]["storageClassName"] == "fast"
    (deployment,) = [
        each for each in manifests if each["metadata"]["name"] == "shop-gear-commands" and "template" in each["spec"]
    ]
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}, "two pods would wait for each other's volume"


def test_a_pod_for_commands_is_there_where_it_is_asked_for() -> None:
    manifests = rendered(values={"commands.enabled": "false"})
    assert [manifest for manifest in manifests if "commands" in json.dumps(manifest["metadata"])] == []


@pytest.mark.parametrize("seconds", [5, 30])
def test_a_pod_has_time_for_its_drain(seconds: int) -> None:
    pod = pods(rendered(values={"api.drainSeconds": str(seconds)}))["api"]
    (drain,) = [entry["value"] for entry in pod["containers"][0]["env"] if entry["name"] == "GEAR_DRAIN_SECONDS"]
    probe = pod["containers"][0]["readinessProbe"]
    assert int(drain) == seconds
    assert pod["terminationGracePeriodSeconds"] == seconds + 30
    assert probe["periodSeconds"] * probe["failureThreshold"] < seconds / 2, "it would still get requests at the end"


def test_the_network_lets_callbacks_reach_neither_the_engine_nor_anything_inside() -> None:
    policies = {
        manifest["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]: manifest["spec"]
        for manifest in rendered()
        if manifest["kind"] == "NetworkPolicy"
    }
    assert set(policies) == set(pods(rendered())), "a policy for each kind of pod"
    ports = {
        name: {port["port"] for rule in policy["egress"] for port in rule.get("ports", ())}
        for name, policy in policies.items()
    }
    assert ports == {
        "api": {53, 9200, 5432, 6379},
        "load": {53, 9200, 5432},
        "follow": {53, 9200, 5432, 9092},
        "commands": {53, 9200, 5432},
        "deliver": {53, 5432},
        "migrate": {53, 5432},
    }
    world = json.dumps(policies["deliver"]["egress"])
    assert all(network in world for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"))
    assert [name for name, policy in policies.items() if "ipBlock" in json.dumps(policy["egress"])] == [
        "deliver",
        "load",
    ]
    entries = {name: policy["ingress"][0]["ports"] for name, policy in policies.items() if policy.get("ingress")}
    assert entries == {
        "api": [{"port": "http", "protocol": "TCP"}],
        "follow": [{"port": "metrics", "protocol": "TCP"}],
    }


def test_the_api_scales_by_requests_at_work_where_they_are_measured() -> None:
    (scaler,) = [manifest for manifest in rendered(*SIZES["large"]) if manifest["kind"] == "HorizontalPodAutoscaler"]
    assert scaler["spec"]["metrics"][0]["pods"]["metric"]["name"] == "gear_requests_in_flight"
    (deployment,) = [
        manifest
        for manifest in rendered()
        if manifest["kind"] == "Deployment" and manifest["metadata"]["name"] == "shop-gear"
    ]
    assert "replicas" not in deployment["spec"], "each upgrade would undo the scaling"


def test_each_topic_has_followers_that_end_in_their_own_time() -> None:
    values = {
        "follow.topics.prices.source": "kafka://kafka:9092/prices",
        "follow.topics.prices.platform": "730",
        "follow.topics.prices.replicas": "3",
        "follow.topics.prices.group": "shop",
        "follow.topics.prices.arguments[0]": "--retry-timeout=600",
        "follow.metricsPort": "9999",
    }
    manifests = rendered(values=values)
    followers = {
        manifest["metadata"]["name"]: manifest["spec"]
        for manifest in manifests
        if manifest["kind"] == "Deployment" and "follow" in manifest["metadata"]["name"]
    }
    assert {name: spec["replicas"] for name, spec in followers.items()} == {
        "shop-gear-follow-listings": 1,
        "shop-gear-follow-prices": 3,
    }
    selectors = [spec["selector"]["matchLabels"] for spec in followers.values()]
    assert selectors[0] != selectors[1], "a topic would count the pods of the other as its own"
    budgets = [
        manifest["spec"]
        for manifest in manifests
        if manifest["kind"] == "PodDisruptionBudget" and "follow" in manifest["metadata"]["name"]
    ]
    assert [budget["selector"]["matchLabels"] for budget in budgets] == selectors
    assert {budget["maxUnavailable"] for budget in budgets} == {1}
    listings, prices = (spec["template"]["spec"] for spec in followers.values())
    command = prices["containers"][0]["command"]
    assert command[:5] == ["gear-indexer", "follow", "kafka://kafka:9092/prices", "--platform", "730"]
    parent = main.make_context("gear-indexer", ["follow"])  # a command keeps the names of its help from the first one
    options = main.commands["follow"].make_context("follow", command[2:], parent).params
    assert (options["group"], options["retry_timeout"], options["metrics_port"]) == ("shop", 600, 9999)
    assert options["metrics_host"] == "0.0.0.0", "Prometheus reads it from another pod"
    assert prices["containers"][0]["ports"] == [{"name": "metrics", "containerPort": 9999}]
    assert prices["terminationGracePeriodSeconds"] >= 30
    assert "kafka" not in [volume["name"] for volume in prices["volumes"]]
    (secret,) = [volume["secret"] for volume in listings["volumes"] if volume["name"] == "kafka"]
    assert secret["secretName"] == "gear-kafka"
    (mount,) = [each for each in listings["containers"][0]["volumeMounts"] if each["name"] == "kafka"]
    command = listings["containers"][0]["command"]
    assert command[command.index("--properties") + 1] == f"{mount['mountPath']}/{secret['items'][0]['path']}"
    (login,) = [each for each in prices["containers"][0]["env"] if each["name"] == "GEAR_OPENSEARCH_USERNAME"]
    assert login["value"] == "gear-writer", "a follower deletes and makes no index"


def test_monitors_name_their_jobs_as_the_alert_rules_do() -> None:
    rules = (CHART.parents[1] / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    (alert_jobs,) = re.findall(r'up\{job=~"([^"]+)"\}', rules)
    endpoints = [
        endpoint
        for manifest in rendered()
        if manifest["kind"] in ("ServiceMonitor", "PodMonitor")
        for endpoint in manifest["spec"].get("endpoints", manifest["spec"].get("podMetricsEndpoints"))
    ]
    jobs = [rule["replacement"] for endpoint in endpoints for rule in endpoint["relabelings"]]
    assert sorted(jobs) == sorted(alert_jobs.split("|"))


def test_the_migration_runs_before_the_new_version() -> None:
    (job,) = [manifest for manifest in rendered() if manifest["kind"] == "Job"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["gear-api", "migrate"]
