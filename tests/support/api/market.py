"""A service with two workers and its platform's catalogue, written to from outside."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
from opensearchpy import OpenSearch

from api.settings import Settings
from tests.support.indexer.fixtures import lines

PATH = "/v1/catalogue/cs2/items"


@dataclass(frozen=True)
class Market:
    """The service, its engine, and a token of every scope; each request has a connection of its own, to any worker."""

    url: str
    token: str
    settings: Settings
    engine: OpenSearch
    folder: Path

    @property
    def alias(self) -> str:
        """Of its platform."""
        return self.settings.alias(730)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request with the token."""
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        # no certificates are read, which takes 27 ms
        return httpx.request(method, self.url + path, headers=headers, timeout=60, verify=False, **more)

    def put(self, rows: list[dict[str, Any]], *, visible: bool = True, **more: Any) -> dict[str, Any]:
        """The answer to a PUT of these items, which is a 200."""
        query = "?visible=true" if visible else ""
        response = self.request("PUT", PATH + query, json=rows, **more)
        assert response.status_code == 200, response.text
        written: dict[str, Any] = response.json()
        assert len(rows) == written["written"] + written["superseded"] + len(written["refused"])
        return written

    def delete(self, ids: list[int], **more: Any) -> dict[str, Any]:
        """The answer to a DELETE of these items, which is a 200."""
        response = self.request("DELETE", f"{PATH}?visible=true", json={"ids": ids, **more})
        assert response.status_code == 200, response.text
        written: dict[str, Any] = response.json()
        return written

    def load(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Loads a whole catalogue by the command line; its report."""
        command = [sys.executable, "-m", "indexer.cli.main", "load", "-", "--platform", "730", "--json", "--quiet"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "GEAR_OPENSEARCH_URL": self.settings.opensearch_url,
            "GEAR_INDEX_PREFIX": self.settings.index_prefix,
            "GEAR_DATABASE_URL": self.settings.database_url,
        }
        options = ["--min-share", "0", "--max-price-change", "100"]
        done = subprocess.run(
            [*command, *options],
            env=environment,
            cwd=self.folder,
            input=lines(rows),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = orjson.loads(done.stdout)
        return report

    def names(self) -> dict[int, str]:
        """What serves, by id."""
        self.engine.indices.refresh(index=self.alias)
        hits = self.engine.search(index=self.alias, body={"size": 10_000})["hits"]["hits"]
        return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}
