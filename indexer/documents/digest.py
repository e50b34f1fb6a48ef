"""Hashes the content of documents, and sums hashes into a checksum that does not depend on their order. Pure.

A document keeps its hash as four numbers of 16 bits. The engine sums in doubles, which are exact up to 2^53, so its
sums over up to 2^37 documents are exact and can be compared with sums over the source.
"""

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from indexer.documents.document import NOT_IN_LISTING
from mappings.fields import DETAILS
from mappings.folding import single_spaced
from mappings.items.digest import content_digest, parts_of

_VERSION_AND_DIGEST = b'"version":%d,"digest":{"a":%d,"b":%d,"c":%d,"d":%d},'


class EncodedDocument(NamedTuple):
    """A document as JSON, in pieces so that none is copied twice, and the hash of its content."""

    pieces: tuple[bytes, ...]
    digest: int


def encode_document(
    document: dict[str, Any], version: int, key: bytes = b"", fields: Container[str] | None = None
) -> EncodedDocument:
    """Adds the version (microseconds since 1970) and the digest to a document that has neither.

    The digest covers what is shown of the item: its JSON and when it was listed, but not whether it is bound. A key
    makes it one that only its holders can make. `fields` are those of another definition, which the document is for.
    """
    item = document["item"]  # JSON with the id, its keys always in the same order
    digest = content_digest(item, document.get("listedAt"), document["platform"], key)
    head = b"{" + _VERSION_AND_DIGEST % (version, *parts_of(digest))
    stored = document.copy()
    for name in NOT_IN_LISTING:
        stored.pop(name, None)
    for name in DETAILS:
        if name in stored:
            stored[name] = single_spaced(stored[name])
    if fields is not None:
        stored = {name: value for name, value in stored.items() if name in fields}
    return EncodedDocument((head, orjson.dumps(stored)[1:]), digest)  # without its opening brace


@dataclass
class Checksum:
    """The number of items, and the sums of the parts of their hashes."""

    items: int = 0
    parts: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def add(self, digest: int) -> None:
        parts = self.parts
        self.items += 1
        parts[0] += digest >> 48
        parts[1] += digest >> 32 & 0xFFFF
        parts[2] += digest >> 16 & 0xFFFF
        parts[3] += digest & 0xFFFF

    def without(self, other: "Checksum") -> "Checksum":
        """The checksum of these items except the others."""
        parts = [mine - theirs for mine, theirs in zip(self.parts, other.parts, strict=True)]
        return Checksum(self.items - other.items, parts)

    def digest(self) -> str:
        """The four sums in hexadecimal."""
        return "-".join(f"{part:x}" for part in self.parts)
