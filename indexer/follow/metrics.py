"""Metrics of a follower for Prometheus, served on a port."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from indexer.errors import CommandError
from indexer.follow.follower import FollowReport


class FollowMetrics:
    """What a follower has done, and how far behind it is."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._items = Counter(
            "gear_follow_changes", "Changes of a stream by result", ("platform", "result"), registry=self._registry
        )
        self._lag = self._gauge("gear_follow_lag", "Messages of the stream that are not read yet")
        self._age = self._gauge(
            "gear_follow_age_seconds", "Seconds from the oldest change of the last batch to its acknowledgement"
        )
        self._committed = self._gauge(
            "gear_follow_last_commit_timestamp_seconds",
            "When the follower was last known to have committed all that it had read",
        )
        self._counts: dict[str, int] = {}

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, ("platform",), registry=self._registry)

    def serve(self, port: int, host: str) -> Callable[[], None]:
        """Serves them until the function that is returned is called; raises CommandError for a port that is taken."""
        try:
            server, thread = start_http_server(port, host, self._registry)
        except OSError as error:
            raise CommandError(f"the metrics cannot be served on {host}:{port}: {error.strerror}") from error

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop

    def update(self, report: FollowReport, messages: int) -> None:
        """Takes over the numbers of a report on a batch of so many messages."""
        platform = str(report.platform)
        counts = report.counts()
        for result, count in counts.items():
            self._items.labels(platform, result).inc(count - self._counts.get(result, 0))
        self._counts = counts
        self._lag.labels(platform).set(report.lag)
        self._age.labels(platform).set(report.age if messages or report.lag else 0.0)
        self._committed.labels(platform).set_to_current_time()
