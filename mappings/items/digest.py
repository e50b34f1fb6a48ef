"""Hashes the content of an item, as the writer stores it and the reader of an order verifies it. Pure."""

from hashlib import blake2b

PARTS = ("a", "b", "c", "d")  # from the highest 16 bits to the lowest


def content_digest(item: bytes, listed_at: int | None, platform: int, key: bytes = b"") -> int:
    """64 bits over an item's JSON and when it was listed.

    With a key, of 64 bytes at most, it is a message authentication code (RFC 7693, 2.9), which covers the platform too:
    who lacks the key cannot make the digest of another content.
    """
    content = blake2b(item, digest_size=8, key=key, person=b"%d" % platform if key else b"")
    if listed_at is not None:
        content.update(b"\n%d" % listed_at)
    return int.from_bytes(content.digest(), "big")


def parts_of(digest: int) -> tuple[int, int, int, int]:
    """A hash of 64 bits as four numbers of 16."""
    return digest >> 48, digest >> 32 & 0xFFFF, digest >> 16 & 0xFFFF, digest & 0xFFFF
