"""Keys of products, by which listings name them. Pure."""

from base64 import urlsafe_b64encode
from hashlib import blake2b
from typing import Final

import orjson

KEY_BYTES: Final = 12
"""16 characters. Any two of 100 million products have one key with a chance of 6 in 10^14 (96 bits, birthday bound)."""


def product_key(*values: str | int | None) -> str:
    """The key of a product with these values, in their order."""
    return _key(b"product", values)


def sticker_key(platform: int, name: str) -> str:
    """The key of the name of a sticker on items of a platform."""
    return _key(b"sticker", (platform, name))


def _key(kind: bytes, values: tuple[str | int | None, ...]) -> str:
    digest = blake2b(orjson.dumps(values), digest_size=KEY_BYTES, person=kind).digest()
    return urlsafe_b64encode(digest).decode()
