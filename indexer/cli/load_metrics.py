"""Writes the progress and the result of a load as metrics to a file, for the textfile collector of node_exporter."""

import time
from pathlib import Path
from typing import Final, Self

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from indexer.errors import CommandError
from indexer.loading.job import Progress
from indexer.loading.report import LoadReport

WRITE_SECONDS: Final = 5.0
RESULTS: Final = ("read", "indexed", "rejected", "duplicates")


class LoadMetrics:
    """The metrics of one load, renewed every few seconds. It is the load's progress too, and passes that on."""

    def __init__(self, progress: Progress, file: Path | None, report: LoadReport, size: int | None) -> None:
        self._progress = progress
        self._file = file
        self._report = report
        self._size = size
        self._started = time.time()
        self._written = 0.0
        self._position = 0

    def __enter__(self) -> Self:
        """Raises CommandError where the file cannot be written; later that ends the metrics and not the load."""
        try:
            self._write(running=True)
        except OSError as error:
            raise CommandError(f"--metrics {self._file} cannot be written: {error.strerror}") from error
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._position = self._size or 0
        self._renew(running=False)

    def show(self, position: int, items: int) -> None:
        self._progress.show(position, items)
        self._position = position
        if time.monotonic() - self._written >= WRITE_SECONDS:
            self._renew(running=True)

    def say(self, text: str) -> None:
        self._progress.say(text)

    def _renew(self, *, running: bool) -> None:
        try:
            self._write(running=running)
        except OSError as error:
            self._progress.say(f"{self._file} cannot be written any more: {error.strerror}")
            self._file = None

    def _write(self, *, running: bool) -> None:
        self._written = time.monotonic()
        if self._file is not None:
            write_to_textfile(str(self._file), self._registry(running=running))

    def _registry(self, *, running: bool) -> CollectorRegistry:
        registry, report = CollectorRegistry(), self._report
        platform = str(report.platform)

        def gauge(name: str, text: str, value: float) -> None:
            Gauge(name, text, ("platform",), registry=registry).labels(platform).set(value)

        gauge("gear_load_running", "Whether a load is under way", running)
        gauge("gear_load_start_timestamp_seconds", "When the load began", self._started)
        items = Gauge(
            "gear_load_items",
            "Items of the load by what became of them: read, indexed, rejected, duplicates",
            ("platform", "result"),
            registry=registry,
        )
        for result in RESULTS:
            items.labels(platform, result).set(getattr(report, result))
        if self._size:
            ratio = min(1.0, self._position / self._size)
            gauge("gear_load_progress_ratio", "Share of the sources that is read", ratio)
        if not running:
            gauge("gear_load_succeeded", "Whether the last load was swapped in", bool(report.swapped))
            gauge("gear_load_end_timestamp_seconds", "When the load ended", time.time())
        return registry
