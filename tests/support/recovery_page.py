"""The commands of docs/recovery.md, run as they stand."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "recovery.md"


def commands(section: str) -> list[str]:
    """The blocks of shell commands in a section, in their order."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{PAGE.name} has no commands in {section!r}"
    return blocks


def configuration(section: str) -> str:
    """The block of configuration in a section."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```conf\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(block)


def run(block: str, folder: Path, environment: Mapping[str, str], user: str | None = None) -> str:
    """Runs a block in a folder, with our commands on the path; what it printed."""
    bash = shutil.which("bash")
    assert bash is not None
    path = f"{Path(sys.executable).parent}:{environment['PATH']}"
    result = subprocess.run(
        [bash, "-euo", "pipefail", "-c", block],
        cwd=folder,
        env={**environment, "PATH": path},
        user=user,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout
