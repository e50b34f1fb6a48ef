"""The measured listings: one file for each size, the same bytes every time, loaded into the index of each peer."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import zstandard
from opensearchpy import OpenSearch

from bench.peers import plain
from bench.peers.checkout import HERE, Checkout
from bench.workloads.bodies import CATALOGUE
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition

SEED = 1
PLATFORM = 730


@dataclass(frozen=True)
class Data:
    """So many listings, and the engine that has them; files are kept in the folder."""

    count: int
    opensearch_url: str
    folder: Path

    @property
    def file(self) -> Path:
        """The file of listings."""
        return self.folder / f"listings-{self.count}-{SEED}.ndjson.zst"

    @property
    def prefix(self) -> str:
        """The prefix of this project's indices."""
        return f"bench-{self.count}"

    @property
    def plain_index(self) -> str:
        """The plain service's index."""
        return f"bench-plain-{self.count}"

    def prefix_of(self, checkout: Checkout) -> str:
        """The prefix of another checkout's indices; each commit has its own."""
        return f"bench-{checkout.commit()}-{self.count}"

    def digest(self) -> str:
        """The first 16 digits of the file's SHA-256."""
        with self.file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:16]

    def items(self) -> Iterator[dict[str, Any]]:
        """The listings."""
        return read_items(self.file)

    def sample(self) -> None:
        """Writes the file where it is missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.file.exists():
            part = self.file.with_name(f"part-{self.file.name}")
            numbers = ("--count", str(self.count), "--seed", str(SEED))
            HERE.run("gear-indexer", "sample", "--catalogue", str(CATALOGUE), *numbers, "--output", str(part))
            part.rename(self.file)

    def load(self, *, with_plain: bool = False, beside: Checkout | None = None) -> None:
        """Loads the file into the index of this project, and of the plain service and another checkout where wanted;
        skips each index that has the listings already.
        """
        self.sample()
        client = engine_client(self.opensearch_url)
        if not self._is_loaded(client, f"{self.prefix}-{PLATFORM}", read_definition().fingerprint):
            load_file(self.file, self.opensearch_url, self.prefix, self.folder)
        if with_plain and not self._is_loaded(client, self.plain_index):
            plain.load(plain.client_of(self.opensearch_url), self.plain_index, self.items())
        if beside is not None and not self._is_loaded(client, f"{self.prefix_of(beside)}-{PLATFORM}"):
            load_file(self.file, self.opensearch_url, self.prefix_of(beside), self.folder, beside)

    def _is_loaded(self, client: OpenSearch, name: str, fingerprint: str | None = None) -> bool:
        if not client.indices.exists(index=name) or client.count(index=name)["count"] != self.count:
            return False
        mappings = [index["mappings"] for index in client.indices.get_mapping(index=name).values()]
        return fingerprint is None or all(mapping["_meta"]["fingerprint"] == fingerprint for mapping in mappings)


def engine_client(url: str) -> OpenSearch:
    """This project's client of the engine, with time for what takes long."""
    return connect(SearchSettings(_env_file=None, opensearch_url=url), timeout=600)


def read_items(file: Path) -> Iterator[dict[str, Any]]:
    """The items of a file of listings compressed by zstd."""
    with zstandard.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield orjson.loads(line)


def load_file(file: Path, opensearch_url: str, prefix: str, folder: Path, checkout: Checkout = HERE) -> None:
    """Loads a file by a checkout's `gear-indexer load`, whatever serves now."""
    settings = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": prefix,
        "GEAR_DATABASE_URL": f"sqlite+aiosqlite:///{database_file(folder, checkout)}",
    }
    checkout.run("gear-api", "migrate", settings=settings)
    checkout.run("gear-indexer", "load", str(file), "--platform", str(PLATFORM), "--quiet", settings=settings)


def database_file(folder: Path, checkout: Checkout = HERE, variant: str = "") -> Path:
    """The SQLite file of a checkout's orders; each peer has its own, or it would publish the orders of another."""
    return folder / ("bench" + ("" if checkout is HERE else f"-{checkout.commit()}") + variant + ".db")
