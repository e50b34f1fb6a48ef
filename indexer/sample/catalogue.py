"""Reads the catalogue of which listings are made."""

from pathlib import Path
from typing import Any

import orjson

from indexer.errors import CommandError
from indexer.sources.source import Source

_NEEDED = ("name", "type", "weapon", "exterior", "paintIndex", "minFloat", "maxFloat", "image", "price")


def read_catalogue(path: Path) -> list[dict[str, Any]]:
    """All rows; raises CommandError where one is no row, SourceError where the file cannot be read."""
    rows = []
    with Source(str(path)) as source:
        for line, content in source.records():
            try:
                row = orjson.loads(content) if isinstance(content, bytes) else None
            except orjson.JSONDecodeError:
                row = None
            missing = [key for key in _NEEDED if not isinstance(row, dict) or key not in row]
            if row is None or missing:
                message = f"{path}, line {line}: is no catalogue row; a row is an object with {', '.join(_NEEDED)}"
                raise CommandError(message)
            rows.append(row)
    if not rows:
        raise CommandError(f"{path} has no rows to make listings of")
    return rows
