"""Shows the progress of a load on stderr: a bar on a terminal, else a line every few seconds."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_SECONDS = 5.0
BAR_SECONDS = 0.1


class LoadProgress:
    """Says how far a load is; `size` is the bytes of all sources, None where it cannot be known."""

    def __init__(self, size: int | None, *, quiet: bool) -> None:
        self._size = size
        self._quiet = quiet
        self._began = self._last = time.monotonic()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[items]:,} items, {task.fields[rate]:,.0f}/s"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("loading", total=size, items=0, rate=0.0)

    def __enter__(self) -> "LoadProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, position: int, items: int) -> None:
        """Shows it where the last time is long enough ago."""
        now = time.monotonic()
        if self._quiet or now - self._last < (LINE_SECONDS if self._bar is None else BAR_SECONDS):
            return
        self._last = now
        seconds = now - self._began
        rate = items / seconds
        if self._bar is not None:
            self._bar.update(self._task, completed=position, items=items, rate=rate)
            return
        remaining = ""
        if self._size and 0 < position <= self._size:
            remaining = (
                f", {position / self._size:.0%}, {seconds * (self._size - position) / position:,.0f} s remaining"
            )
        self.say(f"{items:,} items, {rate:,.0f}/s{remaining}")

    def say(self, text: str) -> None:
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
