"""Reads the index definition, `gear.json`, and computes its fingerprint."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

FINGERPRINT_LENGTH = 8


@dataclass(frozen=True)
class Definition:
    """The body of `gear.json` and the first 8 hex digits of the SHA-256 of its canonical JSON."""

    body: dict[str, Any]
    fingerprint: str

    def create_body(self) -> dict[str, Any]:
        """The body to create an index with: `gear.json` as it is, its fingerprint in `_meta`."""
        mappings = {**self.body["mappings"], "_meta": {"fingerprint": self.fingerprint}}
        return {**self.body, "mappings": mappings}

    def with_shards(self, count: int) -> "Definition":
        """The same definition with `count` primary shards, which the fingerprint leaves out."""
        settings = self.body["settings"]
        index = {**settings["index"], "number_of_shards": count}
        return replace(self, body={**self.body, "settings": {**settings, "index": index}})

    def can_read(self, meta: Mapping[str, Any]) -> bool:
        """Whether this version can search an index with this `_meta`; one that says nothing is taken as readable."""
        return bool(meta.get("fingerprint", self.fingerprint) == self.fingerprint)

    def index_settings(self) -> dict[str, Any]:
        """The settings that an index must have in service, flat below `index`."""
        return dict(self.body["settings"]["index"])


def read_definition() -> Definition:
    """Reads the definition that ships with this package."""
    body = json.loads(files("mappings").joinpath("gear.json").read_bytes())
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return Definition(body, hashlib.sha256(canonical).hexdigest()[:FINGERPRINT_LENGTH])
