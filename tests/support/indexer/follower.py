"""A follower as a process of its own, whose standard output says what is acknowledged."""

import os
import signal
import subprocess
import sys
import threading
from time import monotonic, sleep
from typing import IO, Any

import orjson

from tests.support.indexer.fixtures import Place

SECONDS = 60.0


class FollowerProcess:
    """`gear-indexer follow`; `reports` are what it printed."""

    def __init__(self, place: Place, source: str, *options: str, stdin: int = subprocess.PIPE) -> None:
        command = [sys.executable, "-m", "indexer.cli.main", "follow", source, "--platform", "730", "--json", "--quiet"]
        environment = {**place.environment, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
        self._log = place.folder / f"follower-{monotonic()}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *options],
                env=environment,
                cwd=place.folder,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.reports: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._pipe(self.process.stdout) as output:
            for line in output:
                self.reports.append(orjson.loads(line))

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe

    def write(self, *rows: dict[str, Any] | bytes) -> None:
        """Writes lines to its standard input."""
        pipe = self._pipe(self.process.stdin)
        for row in rows:
            pipe.write((row if isinstance(row, bytes) else orjson.dumps(row)) + b"\n")
        pipe.flush()

    def wait_read(self, messages: int) -> dict[str, Any]:
        """The first report on so many messages."""
        deadline = monotonic() + SECONDS
        while monotonic() < deadline and self.process.poll() is None:
            for report in self.reports:
                if report["read"] >= messages:
                    return report
            sleep(0.02)
        raise AssertionError(f"{self.reports[-1:]} {self.errors()}")

    def stop(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        """Ends it by a signal; its last report."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> dict[str, Any]:
        """Closes its standard input and waits for its end; its last report."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return self.reports[-1] if self.reports else {}

    def errors(self) -> str:
        """What it said on stderr."""
        return self._log.read_text()[-2000:]


def row(number: int, name: str = "live", **more: Any) -> dict[str, Any]:
    """A changed item as a line."""
    return {"id": number, "name": name, "price": 1, **more}
