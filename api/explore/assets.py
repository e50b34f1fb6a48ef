"""The files of the page: read once a process, compressed once, named by a digest of them all."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

MEDIA_TYPES: Final = {"js": "text/javascript", "css": "text/css", "json": "application/json", "svg": "image/svg+xml"}
_FOLDERS: Final = ("", "vendor/", "languages/", "operations/", "operations/languages/")
_THEME: Final = files("api") / "templates" / "theme.css"  # the buyer's page has it too


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    compressed: bytes
    media_type: str


@dataclass(frozen=True)
class Assets:
    """All files by their path, and the digest that stands in their addresses: a change of one file changes it."""

    by_path: dict[str, Asset]
    digest: str


@cache
def assets() -> Assets:
    """Reads and compresses the files."""
    root = files("api.explore") / "static"
    by_path = {"theme.css": _asset(_THEME)} | {
        f"{folder}{file.name}": _asset(file)
        for folder in _FOLDERS
        for file in sorted((root / folder if folder else root).iterdir(), key=lambda file: file.name)
        if file.is_file() and file.name.rpartition(".")[2] in MEDIA_TYPES
    }
    digest = hashlib.sha256()
    for path, asset in by_path.items():
        digest.update(path.encode() + b"\0" + hashlib.sha256(asset.content).digest())
    return Assets(by_path, digest.hexdigest()[:16])


def _asset(file: Traversable) -> Asset:
    content = file.read_bytes()
    return Asset(content, gzip.compress(content, mtime=0), MEDIA_TYPES[file.name.rpartition(".")[2]])
