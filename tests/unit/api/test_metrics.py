"""Metrics of several workers: the gauges of one that has ended go with it, what it counted stays."""

import os
import subprocess
import sys
from pathlib import Path

from api.metrics import RequestMetrics
from api.settings import Settings

A_WORKER = """
from prometheus_client import Counter, Gauge
Counter("counted", "Stays").inc()
Gauge("now", "Goes", multiprocess_mode="livemax").set(7)
print("set", flush=True)
input()
"""


def test_gauges_of_a_worker_that_was_killed_go(tmp_path: Path) -> None:
    metrics = RequestMetrics(Settings(_env_file=None, PROMETHEUS_MULTIPROC_DIR=tmp_path))
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    command = [sys.executable, "-c", A_WORKER]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        assert metrics.registry().get_sample_value("now") == 7
        worker.kill()
    assert metrics.registry().get_sample_value("now") is None
    assert metrics.registry().get_sample_value("counted_total") == 1
