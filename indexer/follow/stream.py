"""What a follower reads: changes in order, and a position that is committed once they are acknowledged."""

from collections.abc import Sequence
from typing import Protocol

from indexer.live.change import ReadChange, RefusedChange

Message = ReadChange | RefusedChange


class Stream(Protocol):
    """A source of messages. All calls come from one thread."""

    name: str
    ended: bool = False
    """Whether no more messages will come."""

    def read(self, max_messages: int, seconds: float) -> Sequence[Message]:
        """The next messages: as many as are there, and those that come within so many seconds."""

    def drain(self, max_messages: int) -> Sequence[Message]:
        """What was taken from the source already and cannot be read again; nothing once that is over."""
        return ()

    def commit(self) -> None:
        """Everything that was read is acknowledged."""

    def lag(self) -> int:
        """How many messages are not read yet, as far as is known."""

    def close(self) -> None:
        """Gives the stream back; what was not committed is read again by the next."""
