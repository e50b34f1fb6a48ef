"""Sentences and byte counts go in; lines and a progress bar on stderr come out. stdout is left for data."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO


class Talk(Protocol):
    """How the work tells what it is doing."""

    def say(self, sentence: str) -> None:
        """One line for the person who waits."""

    def progress(self, title: str, total: int, done: int) -> AbstractContextManager[Callable[[int], None]]:
        """A bar of `total` bytes beginning at `done`; enter it to get the function to call with the bytes so far."""


class QuietTalk:
    """Says nothing; for callers that have no terminal and want none."""

    def say(self, sentence: str) -> None:
        """Nothing."""

    @contextmanager
    def progress(self, title: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
        """No bar."""
        del title, total, done
        yield lambda _bytes: None


class StreamTalk:
    """Writes to a stream: a moving bar if it is a terminal, else one line when a download begins."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, sentence: str) -> None:
        """One line, at once."""
        print(sentence, file=self._stream, flush=True)

    @contextmanager
    def progress(self, title: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
        """A rich progress bar on a terminal, a plain line elsewhere."""
        if not self._stream.isatty():
            left = (total - done) / 1e6
            self.say(f"fetching {title}: {left:.1f} MB" + (" more" if done else ""))
            yield lambda _bytes: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(file=self._stream)) as bar:
            task = bar.add_task(title, total=total, completed=done)
            yield lambda so_far: bar.update(task, completed=so_far)
