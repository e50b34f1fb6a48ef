"""How tests are spread over the workers of pytest-xdist.

A file stays with one worker, which starts its servers once. The longest files go first, so that no worker ends long
after the others. Files that kill an engine share one, and so a worker.
"""

from typing import Final

import pytest
from xdist.scheduler import LoadFileScheduling

# One node of OpenSearch starts in ten seconds of two cores: these files use the same one.
RESTARTING: Final = (
    "tests/faults/indexer/test_restart.py",
    "tests/faults/search/test_cursors.py",
    "tests/faults/search/test_response_cache.py",
    "tests/faults/search/test_search.py",
)
LONGEST: Final = (
    *RESTARTING,
    "tests/real/test_demo.py",
    "tests/real/orders/test_retries.py",
    "tests/real/search/test_catalogue_texts.py",
    "tests/faults/orders/test_chaos.py",
    "tests/real/test_node.py",
    "tests/real/indexer/test_lock.py",
    "tests/real/indexer/test_throttle.py",
    "tests/faults/indexer/test_engine.py",
    "tests/faults/indexer/test_death.py",
    "tests/real/indexer/test_resume.py",
    "tests/real/search/test_scenarios.py",
    "tests/real/search/test_explain.py",
    "tests/faults/orders/test_callbacks.py",
    "tests/real/orders/test_life.py",
    "tests/real/search/test_oracle.py",
    "tests/real/indexer/test_changes.py",
    "tests/real/indexer/test_proof.py",
    "tests/real/search/test_cursor_and_changes.py",
    "tests/real/indexer/test_doctor.py",
)


class ByEngine(LoadFileScheduling):  # type: ignore[misc]  # xdist ships no types
    """By file, but for the files that share an engine."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "restarting" if file in RESTARTING else file


def longest_first(items: list[pytest.Item]) -> None:
    """Moves the tests of the longest files to the front."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::", 1)[0], len(places)))
