"""`make audit` on the locked dependencies, against a database of advisories on this machine."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# of packages for every platform
VERSIONS = dict(re.findall(r"^([\w.-]+)==(\S+) \\$", (ROOT / "requirements.txt").read_text(), re.MULTILINE))


@contextmanager
def _advisories(vulnerable: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
    """The address of a database in the format of OSV that knows one vulnerability of each, and who was asked for."""
    requested: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # a name that http.server asks for
            query = json.loads(self.rfile.read(int(self.headers["content-length"])))
            name = query["package"]["name"]
            requested.add(name)
            affected = [{"package": query["package"], "ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "99"}]}]}]
            vulnerability = {"id": "PYSEC-2026-1", "details": "of a test", "affected": affected}
            is_vulnerable = vulnerable.get(name) == query["version"]
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"vulns": [vulnerability]} if is_vulnerable else {}).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/query", requested
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _audit(url: str) -> subprocess.CompletedProcess[str]:
    if not (ROOT / "var" / "tools" / "bin" / "pip-audit").exists():
        pytest.skip("there is no pip-audit: make var/tools")
    command = ["make", "audit", f"AUDIT=--vulnerability-service osv --osv-url {url}"]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_every_locked_package_is_looked_up() -> None:
    with _advisories({}) as (url, requested):
        audit = _audit(url)
    assert audit.returncode == 0, audit.stderr
    assert VERSIONS
    assert requested.issuperset(VERSIONS)


def test_a_vulnerable_package_fails_the_audit_and_is_named() -> None:
    with _advisories({"starlette": VERSIONS["starlette"]}) as (url, _):
        audit = _audit(url)
    assert audit.returncode != 0
    assert re.search(
        rf"^starlette\s+{re.escape(VERSIONS['starlette'])}\s+PYSEC-2026-1\s+99", audit.stdout, re.MULTILINE
    )
