"""The units of deploy/systemd: systemd takes them, and what they start exists and is safe."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.settings import Settings
from api.unsafe_settings import unsafe_settings
from tests.docs.pages import GROUPS

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("gear-*.*"))
TEXT = {file.name: file.read_text(encoding="utf-8") for file in UNITS if file.is_file()}
COMMANDS = re.findall(r"^Exec\w+=/opt/gear/bin/(.+)$", "\n".join(TEXT.values()), re.MULTILINE)
MAX_EXPOSURE = 20  # tenths, as `systemd-analyze security` counts; without the hardening they are above 90


@pytest.mark.parametrize("command", COMMANDS)
def test_a_unit_starts_a_command_and_options_that_exist(command: str) -> None:
    name, *arguments = shlex.split(command)
    shown = CliRunner().invoke(GROUPS[name], [*arguments, "--help"])
    assert shown.exit_code == 0, shown.output


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze to verify units with")
    shutil.copytree(ROOT / "deploy" / "systemd", tmp_path / "units")
    for file in (tmp_path / "units").glob("*.service"):
        file.write_text(TEXT[file.name].replace("/opt/gear/bin", str(Path(sys.executable).parent)), encoding="utf-8")
    environment = {"SYSTEMD_UNIT_PATH": f"{tmp_path / 'units'}:", "PATH": "/usr/bin:/bin"}
    names = [name.replace("@", "@730") for name in TEXT]
    hardened = [name for name in names if name.endswith(".service")]
    for verb in (
        ["verify", "--man=no", *names],
        ["security", "--offline=true", f"--threshold={MAX_EXPOSURE}", "--no-pager", *hardened],
    ):
        command = ["systemd-analyze", *verb]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_settings_of_the_page_are_safe(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8").partition("## Without containers")[2]
    (settings, *_) = re.findall(r"^```conf\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / ".env").write_text(settings.replace("/var/lib/gear", str(tmp_path)), encoding="utf-8")
    keys = subprocess.check_output([Path(sys.executable).with_name("gear-api"), "encryption", "key"])
    (tmp_path / "keys").write_bytes(keys)
    (tmp_path / "keys").chmod(0o600)
    workers = int(re.findall(r"serve --workers (\d+) --production", TEXT["gear-api.service"])[0])
    assert list(unsafe_settings(Settings(_env_file=tmp_path / ".env"), workers)) == []
