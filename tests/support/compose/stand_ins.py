"""Images that an engine without a registry lacks: of Debian's packages and the plugin from Maven."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from node.process.lifecycle import folders_of
from node.settings import read_settings
from tests.support.compose.deployment import docker
from tests.support.node.secured import secured_server

OPENSEARCH = "opensearchproject/opensearch:3.6.0"
PLUGIN = "/usr/share/opensearch/plugins/opensearch-security"
# The stand-in's entry point drops the settings of plugins that it lacks.
SECURED = f"""\
FROM {OPENSEARCH}
COPY --chown=1000:1000 opensearch-security {PLUGIN}
RUN sed -i -e 's/^foreign() .*/foreign() {{ false; }}/' -e "s/^if grep -qE '.*/if false; then/" *-entrypoint.sh
"""
DEBIAN = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends {package} && rm -rf /var/lib/apt/lists/*
"""


def secured_opensearch() -> str:
    """An image of OpenSearch with its security plugin."""
    if _runs("run", "--rm", "--entrypoint", "test", OPENSEARCH, "-d", PLUGIN):
        return OPENSEARCH
    server, _ = secured_server(folders_of(read_settings()))
    return _built("gear-test/opensearch-secured:3.6.0", SECURED, server / "plugins" / "opensearch-security")


def of_debian(image: str, package: str) -> str:
    """The image, or a stand-in with Debian's package."""
    if _runs("image", "inspect", image) or _runs("pull", "--quiet", image):
        return image
    return _built(f"gear-test/{package}:bookworm", DEBIAN.format(package=package))


def _built(image: str, dockerfile: str, *files: Path) -> str:
    if not _runs("image", "inspect", image):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "Dockerfile").write_text(dockerfile, encoding="utf-8")
            for file in files:
                shutil.copytree(file, Path(folder) / file.name)
            docker("build", "--quiet", "--tag", image, folder)
    return image


def _runs(*arguments: str) -> bool:
    return subprocess.run(["docker", *arguments], check=False, capture_output=True).returncode == 0
