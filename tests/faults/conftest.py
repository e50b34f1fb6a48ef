"""An engine that tests of faults may stop and kill."""

from collections.abc import Iterator

import pytest

from tests.support.servers import Node, disposable_node


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """An engine of these tests' own; who stops it starts it again."""
    with disposable_node("faults") as started_node:
        yield started_node
