"""Renders the chart, by default with every option on, as the manifests of a release named `shop`."""

import subprocess
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.deployment.tools import tool

CHART: Final = Path(__file__).parents[3] / "deploy" / "helm" / "gear"
VERSIONS: Final = ("1.27", "1.37")  # the oldest that Chart.yaml takes, and the newest with a schema
NEEDED: Final = {
    "image.repository": "registry.example.com/gear",
    "image.digest": f"sha256:{'0' * 64}",
    "publicUrl": "https://gear.example.com",
}
EVERYTHING: Final = {
    "load.enabled": "true",
    "load.source": "/catalogue/items.ndjson.gz",
    "ingress.enabled": "true",
    "ingress.host": "gear.example.com",
    "ingress.tlsSecret": "gear-tls",
    "serviceMonitor.enabled": "true",
    "follow.topics.listings.source": r"kafka://a:9092\,b:9092/listings",
    "follow.topics.listings.platform": "cs2",
    "follow.topics.listings.properties.secret": "gear-kafka",
    "follow.topics.listings.properties.key": "client.properties",
    "commands.enabled": "true",
}
SIZES: Final[dict[str, tuple[str, ...]]] = {"small": (), "large": ("--values", str(CHART / "values-large.yaml"))}


def command(*arguments: str, values: dict[str, str] | None = None) -> list[str]:
    """The command line of helm with these values; skips where helm is not."""
    options = [part for name, value in (values or {}).items() for part in ("--set", f"{name}={value}")]
    return [tool("helm", "make test-deployment builds it where Go is"), *arguments, *options]


def helm(*arguments: str, values: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs helm."""
    return subprocess.run(command(*arguments, values=values), check=False, capture_output=True, text=True)


def template(*arguments: str, values: dict[str, str] | None = None) -> str:
    """The manifests as helm writes them."""
    arguments = ("--kube-version", f"{VERSIONS[-1]}.0", *arguments)
    done = helm("template", "shop", str(CHART), *arguments, values=NEEDED | EVERYTHING | (values or {}))
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(*arguments: str, values: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """The manifests."""
    return [manifest for manifest in yaml.safe_load_all(template(*arguments, values=values)) if manifest]


def pod_of(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """The template of the pods that a manifest makes."""
    spec = manifest.get("spec", {})
    template: dict[str, Any] | None = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    return template


def pods(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The specification of each kind of pod, by its component."""
    templates = [pod for pod in map(pod_of, manifests) if pod]
    return {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod["spec"] for pod in templates}
