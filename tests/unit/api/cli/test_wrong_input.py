"""What a command cannot use ends it with a sentence, never with a traceback or a wrong reason."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from api.conform.checks import CHECKS, run_checks
from api.conform.deployment import CheckFailed, Deployment, Response
from api.conform.order_checks import cancel

NOT_TEXT = b"\xff\xfe"
BATCH = [f"ord_{number:028}" for number in range(1000)]
KEEP = """
import json, sys
from pathlib import Path
from api.cli.privacy import _keep
_keep(json.load(sys.stdin), Path(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def _database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/gear.db")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("webhook", "verify", "{wrong}", "--secret-file", "{wrong}"),
        ("webhook", "verify", "{wrong}", "--secret-file", "{folder}"),
        ("webhook", "verify", "{wrong}", "--secret-file", "{right}", "--headers", "{wrong}"),
        ("forget", "--again", "{wrong}"),
        ("conform", "http://127.0.0.1:9", "--token-file", "{wrong}"),
        ("conform", "127.0.0.1:9", "--token-file", "{right}"),
        ("conform", "ftp://127.0.0.1:9", "--token-file", "{right}"),
        ("webhook", "recover", "--token", "shop", "--since", "9999-12-31T23:59:59-14:00"),
        ("orders", "cancel", "--token", "shop", "--reason", "x" * 257),
        ("reconcile", "--keep", str(2**63)),
        ("reconcile", "--release", str(-(2**63) - 1)),
        ("audit", "--since", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_what_cannot_be_read_is_a_wrong_argument(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    files = {"wrong": tmp_path / "wrong", "right": tmp_path / "right", "folder": tmp_path}
    files["wrong"].write_bytes(NOT_TEXT)
    files["right"].write_text("whsec_c2VjcmV0\n")
    result = run(*(argument.format(**files) for argument in arguments))
    assert (result.exit_code, type(result.exception)) == (2, SystemExit), result.output
    assert "Error: Invalid value for" in result.stderr


class Gone(Deployment):
    """It places an order, and is gone then."""

    def send(self, method: str, path: str, body: object = None, **_: object) -> Response:
        raise CheckFailed(f"{method} {path}: no response")


def test_a_deployment_that_goes_away_leaves_a_report_of_what_is_not_cancelled() -> None:
    deployment = Gone("http://gone.example", "token", orders=["ord_left"])
    findings = run_checks(deployment, [entry for entry in CHECKS if entry.run is cancel])
    assert findings[-1].message == "not cancelled: ord_left"


def keep_in_process(file: Path, order_ids: list[str]) -> subprocess.CompletedProcess[str]:
    """Keeps ids in a process whose files cannot grow beyond some 16 KB."""
    limit = (16_384, resource.RLIM_INFINITY)
    return subprocess.run(
        [sys.executable, "-c", KEEP, str(file)],
        input=json.dumps(order_ids),
        text=True,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )


def test_ids_that_are_only_partly_stored_are_an_error(tmp_path: Path) -> None:
    """A disk that fills up takes a part of what is written first."""
    file = tmp_path / "forgotten"
    assert "cannot be kept" in keep_in_process(file, BATCH).stderr
    file.write_text("ord_torn")
    assert keep_in_process(file, BATCH[:2]).returncode == 0
    assert file.read_text() == f"ord_torn\n{BATCH[0]}\n{BATCH[1]}\n"
