"""Removes the indices that a test made."""

from mappings.connection import SearchSettings, connect


def drop_indices(url: str, prefix: str) -> None:
    """Removes every index whose name begins with this prefix."""
    client = connect(SearchSettings(opensearch_url=url))
    try:
        client.indices.delete(index=f"{prefix}-*", params={"expand_wildcards": "all"})
    finally:
        client.close()
