"""Metrics of several workers: the gauges of one that has ended go with it, what it counted stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from api.telemetry.metrics import MAX_TOKENS, OTHER_TOKENS, Metrics, token_labels

A_WORKER = """
from prometheus_client import Counter, Gauge
Counter("counted", "Stays").inc()
Gauge("now", "Goes", multiprocess_mode="livemax").set(7)
print("set", flush=True)
input()
"""


def test_gauges_of_a_worker_that_was_killed_go(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    command = [sys.executable, "-c", A_WORKER]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        assert metrics.registry().get_sample_value("now") == 7
        worker.kill()
    assert metrics.registry().get_sample_value("now") is None
    assert metrics.registry().get_sample_value("counted_total") == 1


def test_gauges_go_though_the_number_of_their_worker_is_that_of_another_users_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    (tmp_path / "gauge_livesum_4711.db").touch()
    monkeypatch.setattr("os.kill", refuse)
    Metrics(tmp_path).registry()
    assert list(tmp_path.iterdir()) == []


def test_labels_by_token_are_bounded() -> None:
    metrics = Metrics(None)
    for number in range(MAX_TOKENS + 5):
        metrics.limits.count_cost(f"tok_{number}", 2)
    assert metrics.registry().get_sample_value("gear_rate_limit_cost_total", {"token": "tok_0"}) == 2
    assert metrics.registry().get_sample_value("gear_rate_limit_cost_total", {"token": OTHER_TOKENS}) == 10


def test_counts_by_token_keep_the_greatest_and_the_sum_of_the_others() -> None:
    counts = [(f"tok_{number}", number) for number in range(MAX_TOKENS + 2)]
    labels = token_labels(counts)
    assert labels[0] == (f"tok_{MAX_TOKENS + 1}", MAX_TOKENS + 1)
    assert labels[-1] == (OTHER_TOKENS, 1)
    assert token_labels(counts[:2]) == [("tok_1", 1), ("tok_0", 0)]
