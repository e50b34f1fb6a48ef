"""Names of indices that no other test has, and their removal."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from mappings.connection import SearchSettings, connect


def drop_indices(url: str, prefix: str) -> None:
    """Removes every index whose name begins with this prefix."""
    client = connect(SearchSettings(opensearch_url=url))
    try:
        client.indices.delete(index=f"{prefix}-*", params={"expand_wildcards": "all"})
    finally:
        client.close()


@contextmanager
def new_prefix(url: str) -> Iterator[str]:
    """A prefix for index names that no other test has; its indices are removed at the end of the block."""
    prefix = f"t{secrets.token_hex(5)}"
    try:
        yield prefix
    finally:
        drop_indices(url, prefix)
