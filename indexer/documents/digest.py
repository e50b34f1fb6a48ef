"""The digest: a document's content in, its 64-bit hash and its bytes for the engine out; hashes in, exact sums out.

A hash is kept in the document as four numbers of 16 bits. The engine sums in doubles, which are exact to 2^53, so the
sums of up to 2^37 documents are exact, whatever their order: they can be compared with sums computed from the source.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

PARTS = ("a", "b", "c", "d")  # from the highest 16 bits to the lowest


_VERSION_AND_DIGEST = b',"version":%d,"digest":{"a":%d,"b":%d,"c":%d,"d":%d},'


class Stated(NamedTuple):
    """A document as it is sent, in pieces so that none is copied more than once, and the hash of its content."""

    pieces: tuple[bytes, ...]
    digest: int


def stated(document: dict[str, Any], version: int) -> Stated:
    """The document, which has neither yet, with its version (microseconds since 1970) and the digest of what it says.

    What counts is what is stored of the item: its id, its answer's shape, when it was listed. Whether it is bound and
    when it was written do not.
    """
    fields = document.copy()
    item = fields.pop("item")  # JSON with the id, its keys always in the same order
    listed = fields.get("listedAt")
    content = blake2b(item, digest_size=8)
    if listed is not None:
        content.update(b"\n%d" % listed)
    number = int.from_bytes(content.digest(), "big")
    between = _VERSION_AND_DIGEST % (version, *parts_of(number))
    # the item as it is written already, then the rest, of which the opening brace is left out
    return Stated((b'{"item":', item, between, orjson.dumps(fields)[1:]), number)


def parts_of(number: int) -> tuple[int, int, int, int]:
    """A hash of 64 bits as four numbers of 16."""
    return number >> 48, number >> 32 & 0xFFFF, number >> 16 & 0xFFFF, number & 0xFFFF


@dataclass
class Sums:
    """How many items, and the sums of their hashes' parts; equal for equal items in whatever order."""

    items: int = 0
    parts: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def add(self, number: int) -> None:
        """Counts one item by its hash."""
        parts = self.parts
        self.items += 1
        parts[0] += number >> 48
        parts[1] += number >> 32 & 0xFFFF
        parts[2] += number >> 16 & 0xFFFF
        parts[3] += number & 0xFFFF

    def without(self, other: "Sums") -> "Sums":
        """These items but for the others."""
        return Sums(self.items - other.items, [mine - its for mine, its in zip(self.parts, other.parts, strict=True)])

    def digest(self) -> str:
        """The four sums in hexadecimal."""
        return "-".join(f"{part:x}" for part in self.parts)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> "Sums":
        """The sums of these hashes."""
        sums = cls()
        for number in numbers:
            sums.add(number)
        return sums
