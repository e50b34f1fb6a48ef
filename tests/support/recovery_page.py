"""The commands of docs/recovery.md, run as they stand."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "recovery.md"


def commands(section: str) -> list[str]:
    """The blocks of shell commands in a section, in their order."""
    return _blocks(section, "sh")


def configuration(section: str) -> str:
    """The block of configuration in a section."""
    (block,) = _blocks(section, "conf")
    return block


def _blocks(section: str, language: str) -> list[str]:
    """The blocks of a language between a heading and the next one."""
    _, *after = re.split(rf"^##+ {re.escape(section)}\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.split(r"^##+ ", "".join(after), flags=re.MULTILINE)[0]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{PAGE.name} has no block of {language!r} in {section!r}"
    return blocks


def age() -> None:
    """Skips the test where there is no `age` to encrypt with."""
    if shutil.which("age") is None:
        pytest.skip("there is no age to encrypt backups with: Debian's package `age` has it")


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
