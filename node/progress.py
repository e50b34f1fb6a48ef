"""Tells the person who waits, on stderr; stdout is left for data."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Reporter:
    """Writes sentences, and shows downloads: by a moving bar on a terminal, else by a line when one begins."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, sentence: str) -> None:
        """One line, at once."""
        print(sentence, file=self._stream, flush=True)

    @contextmanager
    def transfer(self, title: str, size: int) -> "Iterator[TransferBar | None]":
        """A bar of `size` bytes on a terminal; None elsewhere."""
        if not self._stream.isatty():
            self.say(f"fetching {title}: {size / 1e6:.1f} MB")
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        with Progress(*columns, console=Console(file=self._stream)) as progress:
            yield TransferBar(progress, progress.add_task(title, total=size))


class TransferBar:
    """The progress bar that pooch's downloader moves."""

    def __init__(self, progress: "RichProgress", task: "TaskID") -> None:
        self.total = 0
        self._progress = progress
        self._task = task

    def update(self, count: int) -> None:
        """So many bytes more."""
        self._progress.update(self._task, advance=count)

    def reset(self) -> None:
        """Back to none: pooch does so at the end, and before another try."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """Nothing: the bar ends with its context."""
