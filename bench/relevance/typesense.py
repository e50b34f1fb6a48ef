"""Typesense as a peer: its server's program and items in; a running server that answers by its defaults out."""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from bench.peers.services import free_port
from bench.relevance.judged import Item

START_SECONDS = 60.0
_KEY = "bench"
# What a text is looked for in, the first counts most: all that the judgments are about.
FIELDS = ("name", "type", "weapon", "exterior", "quality", "phase", "tournament", "rarity")


@dataclass(frozen=True)
class Typesense:
    """A running server with the items in a collection `gear`."""

    connection: HTTPConnection
    name: str
    page: int

    def answer(self, query: str) -> list[Item]:
        """The first page; typos, prefixes and dropped words as the server does them unasked."""
        parameters = {"q": query, "query_by": ",".join(FIELDS), "per_page": self.page}
        told = self.ask("GET", f"/collections/gear/documents/search?{urlencode(parameters)}")
        return [json.loads(hit["document"]["item"]) for hit in json.loads(told)["hits"]]

    def ask(self, method: str, path: str, body: str | None = None) -> bytes:
        """What the server answers; raises RuntimeError where it refuses."""
        self.connection.request(method, path, body and body.encode(), {"X-TYPESENSE-API-KEY": _KEY})
        with self.connection.getresponse() as answer:
            told = answer.read()
        if answer.status >= 300:
            message = f"Typesense answers {method} {path} with {answer.status}: {told[:300]!r}"
            raise RuntimeError(message)
        return told


@contextmanager
def peer(program: Path, items: Sequence[Item], name: str, page: int) -> Iterator[Typesense]:
    """Starts the server in a folder of its own, fills it, and ends it."""
    with TemporaryDirectory() as folder:
        port, peering = free_port(), free_port()
        command = [str(program), "--data-dir", folder, "--api-key", _KEY, "--api-port", str(port)]
        command += ["--api-address", "127.0.0.1", "--peering-address", "127.0.0.1", "--peering-port", str(peering)]
        with (Path(folder) / "typesense.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            server = Typesense(HTTPConnection("127.0.0.1", port, timeout=300), name, page)
            _wait(server, process)
            _fill(server, items)
            yield server
        finally:
            process.terminate()
            process.wait(60)


def _wait(server: Typesense, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            server.ask("GET", "/health")
        except (OSError, RuntimeError):
            server.connection.close()
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


def _fill(server: Typesense, items: Sequence[Item]) -> None:
    fields: list[dict[str, str | bool]] = [{"name": "name", "type": "string"}]
    fields += [{"name": name, "type": "string", "optional": True} for name in FIELDS[1:]]
    server.ask("POST", "/collections", json.dumps({"name": "gear", "fields": fields}))
    documents = [
        {"id": str(item["id"]), "name": item["name"], "item": json.dumps(item)}
        | {name: item["details"][name] for name in FIELDS[1:] if item["details"][name] is not None}
        for item in items
    ]
    told = server.ask("POST", "/collections/gear/documents/import", "\n".join(json.dumps(one) for one in documents))
    if b'"success":false' in told:
        message = f"Typesense did not take all items: {told[:300]!r}"
        raise RuntimeError(message)
