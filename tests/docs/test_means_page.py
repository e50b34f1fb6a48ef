"""The page tells the engine's settings, its request cache and deaths as their files do."""

from typing import Any

from bench.means import AS_IT_IS, QUESTIONS
from bench.means_page import means
from bench.report.measured import Measured, is_means

ABOUT = {"at": "2026-11-21T20:00:00+00:00", "commit": "abc1234", "items": 1_000_000, "machine": {"cores": 2}}


def told(name: str, held: list[dict[str, Any]], **more: Any) -> str:
    file = Measured(name, {**ABOUT, **more, "series": held})
    assert is_means(file)
    return means([file])


def test_each_setting_tells_what_it_did_to_filling_disk_and_searches() -> None:
    asked = {question: {"p50": 1.5, "processor": 2.25, "rounds": [1.25, 1.75]} for question in QUESTIONS}
    fills = [{"seconds": 120.0, "engine_seconds": 180.0}, {"seconds": 130.0, "engine_seconds": 190.0}]
    merge = {"seconds": 40.0, "engine_seconds": 35.0}
    page = told(
        "means-1.json",
        [
            {"variant": AS_IT_IS, "fills": fills, "disk": 700_000_000, "segments": 9, "asked": asked},
            {"variant": "1 segment", "merge": merge, "disk": 650_000_000, "segments": 1, "asked": asked},
        ],
        nodes=3,
        turns=2,
    )
    assert "[1,000,000 listings](measured/means-1.json): 2026-11-21, commit `abc1234`, 2 cores, 3 nodes; " in page
    assert "| as it is | 125 (180, 190) |  | 700 | 9 | 1.50 (1.25 to 1.75), 2.25 |" in page
    assert "| 1 segment |  | 40 (35) | 650 | 1 | 1.50 (1.25 to 1.75), 2.25 |" in page


def test_each_size_of_the_cache_tells_how_many_searches_it_answered() -> None:
    counts = {"hit_count": 900, "miss_count": 100, "evictions": 2000, "kept": 5_000_000, "distinct": 290}
    page = told(
        "request-cache-1.json",
        [{"workload": "hot", "size": "1%", **counts, "p50": 1.0, "mean": 1.5, "processor": 0.75}],
    )
    assert "| `hot` | 1% | 5.00 | 580 | 90% | 2,000 | 1.00 | 1.50 | 0.750 |" in page


def test_each_death_tells_what_was_not_answered_and_what_was_wrong() -> None:
    medians = {"before": 5.0, "without": 6.0, "after": 7.0}
    one = {
        "noticed": 1.2,
        "green": 65.5,
        "answers": 12345,
        "slowest": 2.51,
        "compared": 2000,
        "wrong": 0,
        "medians": medians,
    }
    page = told(
        "deaths-1.json",
        [
            {"victim": "other", "failed": {"503": 4}, "first_failed": 0.1, "last_failed": 1.3, **one},
            {"victim": "manager", "failed": {}, "first_failed": 0.0, "last_failed": 0.0, **one},
        ],
    )
    assert "| another node | 1.2 | 65.5 | 12,345 | 4 × 503 | 0.1, 1.3 | 2.51 | 2,000, 0 | 5.00, 6.00, 7.00 |" in page
    assert "| the node that manages the cluster | 1.2 | 65.5 | 12,345 | 0 |  | 2.51 | 2,000, 0 |" in page
