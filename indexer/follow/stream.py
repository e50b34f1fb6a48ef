"""What a follower reads: changes in order, and a position that is committed once they are acknowledged."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from indexer.documents.refusal import ItemRefusedError
from indexer.live.change import Change


class Message(NamedTuple):
    """One message: its place (for the rejects file), and the change that it makes or why it makes none."""

    source: str
    line: int
    id: int | None
    change: Change | ItemRefusedError


class Stream(Protocol):
    """A source of messages. All calls come from one thread."""

    name: str

    @property
    def ended(self) -> bool:
        """Whether no more messages will come."""

    def read(self, max_messages: int, seconds: float) -> Sequence[Message]:
        """The next messages: as many as are there, and those that come within so many seconds."""

    def drain(self, max_messages: int) -> Sequence[Message]:
        """What was taken from the source already and cannot be read again; nothing once that is over."""

    def commit(self) -> None:
        """Everything that was read is acknowledged."""

    def lag(self) -> int:
        """How many messages are not read yet, as far as is known."""

    def close(self) -> None:
        """Gives the stream back; what was not committed is read again by the next."""
