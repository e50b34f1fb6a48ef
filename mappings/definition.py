"""Reads the definition of a generation's two indices, and computes its fingerprint.

`gear.json` describes the index of listings: what is for sale, with all that is filtered, sorted and counted.
`products.json` describes the index of products: what listings are of, with all that texts are matched with. It builds
on the analysis of `gear.json`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Final

from mappings.folding import mark_mappings

FINGERPRINT_LENGTH = 8
FILES: Final = ("gear.json", "products.json")
# The definitions of other versions that go with this one, by fingerprint. Whoever changes one states them anew.
READS: Final = frozenset[str]()
"""Older ones whose indices this version searches and changes: it does without what they lack."""
READ_BY: Final = ()
"""Older ones whose versions search an index of this one: it has all their fields, with their meaning."""


@dataclass(frozen=True)
class Definition:
    """The bodies of both indices, the first 8 hex digits of the SHA-256 of their canonical JSON, what goes with it."""

    body: dict[str, Any]
    products: dict[str, Any]
    fingerprint: str
    reads: frozenset[str] = READS
    read_by: Sequence[str] = READ_BY

    def create_body(self) -> dict[str, Any]:
        """The body to create an index with: `gear.json` as it is, and its `_meta`."""
        mappings = {**self.body["mappings"], "_meta": self.meta()}
        return {**self.body, "mappings": mappings}

    def create_products_body(self) -> dict[str, Any]:
        """The body to create an index of products with: `products.json`, the analysis of both, and its `_meta`."""
        settings = {**self.products["settings"], "analysis": self.analysis()}
        mappings = {**self.products["mappings"], "_meta": self.meta()}
        return {"settings": settings, "mappings": mappings}

    def analysis(self) -> dict[str, Any]:
        """What texts and values are analysed with, in both indices."""
        ours, theirs = (body["settings"].get("analysis", {}) for body in (self.body, self.products))
        return {kind: {**ours.get(kind, {}), **theirs.get(kind, {})} for kind in (*theirs, *(ours.keys() - theirs))}

    def log_properties(self) -> dict[str, Any]:
        """The fields of a log of changes, whose documents are a listing and its product in one."""
        return {**self.body["mappings"]["properties"], **self.products["mappings"]["properties"]}

    def product_fields(self) -> frozenset[str]:
        """The fields, with their sub-fields, that can be searched in the index of products."""
        return searchable_fields(self.products["mappings"]["properties"])

    def products_only(self) -> frozenset[str]:
        """Those that cannot be searched in the index of listings."""
        return self.product_fields() - searchable_fields(self.body["mappings"]["properties"])

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


def searchable_fields(properties: Mapping[str, Any]) -> frozenset[str]:
    """The names of the fields and sub-fields of a mapping that queries can match."""
    names: set[str] = set()
    for name, field in properties.items():
        if field.get("index", True) and field.get("enabled", True):
            names.add(name)
        below = searchable_fields({**field.get("fields", {}), **field.get("properties", {})})
        names |= {f"{name}.{sub_field}" for sub_field in below}
    return frozenset(names)


def read_definition() -> Definition:
    body, products = (json.loads(files("mappings").joinpath(name).read_bytes()) for name in FILES)
    body["settings"]["analysis"]["char_filter"]["without_marks"]["mappings"] = mark_mappings()
    canonical = json.dumps([body, products], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return Definition(body, products, hashlib.sha256(canonical).hexdigest()[:FINGERPRINT_LENGTH])
