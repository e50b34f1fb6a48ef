"""The commands of docs/integrate.md run as they stand, in one shell."""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.app import serving, settings_for
from tests.support.recovery_page import run

PAGE = (Path(__file__).parents[2] / "docs" / "integrate.md").read_text(encoding="utf-8")
ITEMS = 230  # pages of 100


def blocks(language: str) -> str:
    """All blocks of a language, one after the other."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_the_commands_run(opensearch_url: str, index_prefix: str, tmp_path: Path) -> None:
    if shutil.which("jq") is None or shutil.which("curl") is None:
        pytest.skip("the page's commands need curl and jq")
    settings = settings_for(opensearch_url, index_prefix, tmp_path, deliver_callbacks=False)
    put_index(settings, CS2, [simple_item(number) for number in range(1, ITEMS + 1)])
    with serving(settings) as client:
        names = ("opensearch_url", "index_prefix", "database_url")
        variables = {f"GEAR_{name.upper()}": str(getattr(settings, name)) for name in names}
        run(blocks("sh"), tmp_path, {**os.environ, **variables, "GEAR_URL": str(client.base_url)})

    def written(name: str) -> Any:
        return json.loads((tmp_path / name).read_text(encoding="utf-8"))

    copied = [json.loads(line)["id"] for line in (tmp_path / "copy.ndjson").read_text(encoding="utf-8").splitlines()]
    assert sorted(copied) == list(range(1, ITEMS + 1))
    assert written("changes.json")["changes"] == []
    assert written("order.json")["order"]["amounts"]["price"] == 10
    assert written("saved.json")["search"]["name"] == "cheap redlines"


class Scripted(BaseHTTPRequestHandler):
    """Sends the planned responses one after the other."""

    planned: Iterator[tuple[int, dict[str, Any]]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = next(self.planned)
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(content)


@pytest.mark.parametrize(("last", "ends"), [(200, 0), (401, 1)])
def test_a_copy_waits_after_a_refusal_and_ends_with_an_error(last: int, ends: int, tmp_path: Path) -> None:
    if shutil.which("jq") is None or shutil.which("curl") is None:
        pytest.skip("the page's commands need curl and jq")
    first = {"gear": [{"id": 1}], "nextCursor": "next"}
    refusal = {"status": "error", "error": {"code": "rate_limited"}}
    final = {"gear": [{"id": 2}], "nextCursor": None} if last == 200 else refusal
    Scripted.planned = iter([(200, {"next": "b"}), (200, first), (429, refusal), (last, final)])
    functions = re.findall(r"^(?:gear|copy)\(\) \{\n.*?^\}$", blocks("sh"), re.MULTILINE | re.DOTALL)
    bash = shutil.which("bash") or "bash"
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {**os.environ, "GEAR_URL": f"http://127.0.0.1:{server.server_port}", "GEAR_TOKEN": "t"}
        script = "\n".join([*functions, "copy"])
        ran = subprocess.run([bash, "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
        server.shutdown()
    assert ran.returncode == ends, ran.stderr
    copied = [json.loads(line)["id"] for line in (tmp_path / "copy.ndjson").read_text(encoding="utf-8").splitlines()]
    assert copied == [1, 2][: 2 - ends]
    assert json.loads((tmp_path / "page.json").read_text(encoding="utf-8")) == final


def test_the_receiver_takes_what_is_signed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "whsec_" + "c2VjcmV0" * 4
    monkeypatch.setenv("GEAR_WEBHOOK_SECRET", secret)
    namespace: dict[str, Any] = {}
    exec(blocks("python"), namespace)
    body, now = json.dumps({"type": "order.created", "data": {"order": {"id": "ord_1"}}}), datetime.now(UTC)
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp()))}
    signed = {**headers, "webhook-signature": Webhook(secret).sign("msg_1", now, body)}
    assert namespace["receive"](body.encode(), signed) == 204
    assert capsys.readouterr().out == "order.created ord_1\n"
    assert namespace["receive"](body.encode() + b" ", signed) == 401
