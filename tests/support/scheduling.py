"""How tests are spread over the workers of pytest-xdist.

A file stays with one worker, which starts its servers once. The longest files go first, so that no worker ends long
after the others. Files that share a server share a worker.
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
# The first file of several that ask one service, which takes ten seconds of a core to start, names them all.
TOGETHER: Final = (
    RESTARTING,
    ("tests/real/catalogue/test_model.py", "tests/real/catalogue/test_writes.py"),
    ("tests/real/api/http/test_openapi.py", "tests/real/api/http/test_wire.py"),
)
LONGEST: Final = (
    "tests/real/search/text/test_catalogue_texts.py",
    "tests/real/test_demo.py",
    "tests/faults/search/test_restarts.py",
    "tests/faults/test_schedule.py",
    *RESTARTING,
    "tests/faults/test_storm.py",
    "tests/faults/test_versions.py",
    "tests/real/test_node.py",
    "tests/faults/indexer/test_kafka.py",
    "tests/faults/orders/test_chaos.py",
    "tests/faults/changes/test_model.py",
    "tests/browser/explore/test_requests.py",
    "tests/browser/explore/test_operations.py",
    "tests/clients/test_examples.py",
    "tests/clients/test_follow_postgres.py",
    "tests/faults/search/test_overload.py",
    "tests/faults/api/test_workers.py",
    "tests/faults/api/test_stop.py",
    "tests/faults/orders/test_full_disk.py",
    "tests/faults/test_alerts.py",
    "tests/faults/orders/test_retries.py",
    "tests/faults/orders/test_index_sync.py",
    "tests/faults/orders/test_callbacks.py",
    "tests/browser/test_order_page.py",
    "tests/faults/indexer/test_engine.py",
    "tests/real/indexer/live/test_schedule.py",
    "tests/faults/indexer/loading/test_resume.py",
    "tests/faults/indexer/loading/test_proof.py",
    "tests/faults/search/test_hung_nodes.py",
    "tests/faults/indexer/test_death.py",
    "tests/faults/indexer/test_lock.py",
    "tests/faults/orders/test_duplicate_requests.py",
    "tests/faults/indexer/loading/test_throttle.py",
    "tests/real/search/pagination/test_cursor_and_changes.py",
    "tests/real/indexer/doctor/test_doctor.py",
    "tests/real/orders/placing/test_retries.py",
    "tests/real/indexer/live/test_claims.py",
    "tests/real/webhooks/test_callbacks.py",
    "tests/real/store/migrations/test_migrate.py",
    "tests/real/search/queries/test_explain.py",
    "tests/real/changes/test_waiting.py",
    # of `make test`: the first worker starts the engine, and the others begin with what needs none
    *TOGETHER[2],
    "tests/real/store/orders/test_privacy.py",
    "tests/test_dependencies.py",
    "tests/test_architecture.py",
    "tests/real/store/orders/test_processes.py",
    "tests/docs/test_docs.py",
    "tests/real/store/connection/test_files.py",
    "tests/real/store/outbox/test_index_outbox.py",
    *TOGETHER[1],
    "tests/real/orders/lifecycle/test_transitions.py",
    "tests/real/changes/test_changes.py",
    "tests/real/orders/placing/test_cheapest.py",
    "tests/real/indexer/follow/test_lines.py",
    "tests/real/orders/lifecycle/test_sandbox.py",
    "tests/faults/api/test_metrics.py",
    "tests/real/search/pagination/test_cursor.py",
    "tests/real/webhooks/test_callback_processes.py",
    "tests/real/search/text/test_scenarios.py",
    "tests/real/orders/index/test_index_sync.py",
    "tests/real/search/text/test_judged_queries.py",
    "tests/real/search/queries/test_shards.py",
)

SLOW: Final = (
    "tests/browser/",
    "tests/clients/",
    "tests/faults/",
    "tests/real/changes/test_shards.py",
    "tests/real/changes/test_waiting.py",
    "tests/real/test_node.py",
    "tests/real/test_demo.py",
    "tests/real/indexer/doctor/test_doctor.py",
    "tests/real/indexer/follow/test_kafka.py",
    "tests/real/indexer/live/test_claims.py",
    "tests/real/indexer/live/test_schedule.py",
    "tests/real/orders/placing/test_retries.py",
    "tests/real/webhooks/test_callbacks.py",
    "tests/real/search/pagination/test_cursor_and_changes.py",
    "tests/real/search/pagination/test_cursor_and_vocabulary.py",
    "tests/real/search/queries/test_explain.py",
    "tests/real/search/queries/test_shards.py",
    "tests/real/search/text/test_catalogue_texts.py",
    "tests/real/search/text/test_new_slang.py",
    "tests/real/store/migrations/test_migrate.py",
    "tests/real/store/connection/test_pgbouncer.py",
)
"""Folders and files that `make test` leaves to `make test-slow`: each waits for processes to start, die and come back,
for what takes effect in seconds, or for an index of its own, such as that of a whole catalogue.
"""
QUICK: Final = (
    "tests/faults/api/test_metrics.py",
    "tests/faults/changes/test_recorder_snapshots.py",
    "tests/faults/indexer/doctor/test_engine.py",
    "tests/faults/indexer/doctor/test_orders.py",
    "tests/faults/indexer/follow/",
    "tests/faults/indexer/live/test_changes.py",
    "tests/faults/indexer/live/test_tombstones.py",
    "tests/faults/indexer/live/test_lock.py",
    "tests/faults/indexer/maintenance/",
    "tests/faults/indexer/products/",
    "tests/faults/saved_searches/",
    "tests/faults/search/test_search_all.py",
)
"""Folders and files within those that `make test` runs all the same."""


def is_slow(path: str) -> bool:
    """Whether `make test` leaves out a file."""
    return path.startswith(SLOW) and not path.startswith(QUICK)


def is_left_out(path: str, expression: str) -> bool:
    """Whether a run of the tests with these marks (`-m`) has none of a file or folder, so that it need not be imported.

    A folder's path ends with a slash.
    """
    terms = expression.split(" and ")
    if "not slow" in terms:
        return is_slow(path) and not any(each.startswith(path) for each in QUICK)
    return "slow" in terms and not is_slow(path) and not any(each.startswith(path) for each in SLOW)


class ByServer(LoadFileScheduling):  # type: ignore[misc]  # xdist ships no types
    """By file, but for the files that share an engine or a service."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((files[0] for files in TOGETHER if file in files), file)


def mark_slow(items: list[pytest.Item]) -> None:
    """Marks the slow tests."""
    for item in items:
        if is_slow(item.nodeid.partition("::")[0]):
            item.add_marker(pytest.mark.slow)


def longest_first(items: list[pytest.Item]) -> None:
    """Moves the tests of the longest files to the front."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::", 1)[0], len(places)))
