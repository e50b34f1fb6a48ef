"""Reads the index definition, `gear.json`, and computes its fingerprint."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Final

FINGERPRINT_LENGTH = 8
# The definitions of other versions that go with this one, by fingerprint. Whoever changes gear.json states them anew.
READS: Final = frozenset({"024d3840", "a8829980"})
"""Older ones whose indices this version searches and changes: it does without the fields that they lack."""
READ_BY: Final = ("2af146ef", "024d3840", "a8829980")
"""Older ones whose versions search an index of this one: it has all their fields, with their meaning."""


@dataclass(frozen=True)
class Definition:
    """The body of `gear.json`, the first 8 hex digits of the SHA-256 of its canonical JSON, and what goes with it."""

    body: dict[str, Any]
    fingerprint: str
    reads: frozenset[str] = READS
    read_by: Sequence[str] = READ_BY

    def create_body(self) -> dict[str, Any]:
        """The body to create an index with: `gear.json` as it is, and its `_meta`."""
        mappings = {**self.body["mappings"], "_meta": self.meta()}
        return {**self.body, "mappings": mappings}

    def with_shards(self, count: int) -> "Definition":
        """The same definition with `count` primary shards, which the fingerprint leaves out."""
        settings = self.body["settings"]
        index = {**settings["index"], "number_of_shards": count}
        return replace(self, body={**self.body, "settings": {**settings, "index": index}})

    def meta(self) -> dict[str, Any]:
        """What an index says of its definition: also to versions that do not know it yet."""
        return {"fingerprint": self.fingerprint, "readBy": list(self.read_by)}

    def can_read(self, meta: Mapping[str, Any]) -> bool:
        """Whether this version can search an index with this `_meta`; one that says nothing is taken as readable."""
        fingerprint = meta.get("fingerprint", self.fingerprint)
        return fingerprint in (self.fingerprint, *self.reads) or self.fingerprint in meta.get("readBy", ())

    def index_settings(self) -> dict[str, Any]:
        """The settings that an index must have in service, flat below `index`."""
        return dict(self.body["settings"]["index"])


def read_definition() -> Definition:
    """Reads the definition that ships with this package."""
    body = json.loads(files("mappings").joinpath("gear.json").read_bytes())
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return Definition(body, hashlib.sha256(canonical).hexdigest()[:FINGERPRINT_LENGTH])
