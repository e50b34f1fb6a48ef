"""Lines: chunks of bytes in, numbered lines out; no line longer than an item can be is ever held."""

from collections.abc import Iterator

from indexer.documents.document import Fault, ItemRefusedError

# Far more than the largest valid item: 100 attachments of 3,000 characters, each character up to 12 bytes of escapes.
MOST_ITEM_BYTES = 4 * 1024 * 1024
BLANKS = b" \t\r\n"


class SourceError(ValueError):
    """A source that cannot be read to its end; the message says where and why."""


def too_long() -> ItemRefusedError:
    """The refusal of an item that no limit of its fields allows to be so large."""
    return ItemRefusedError((Fault(None, None, f"is longer than {MOST_ITEM_BYTES:,} bytes"),))


def numbered_lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Each line without its line feed, counted from 1; None for a line that is too long."""
    number = 0
    tail = b""
    skipping = False
    for chunk in chunks:
        *lines, tail = (tail + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield number, None if skipping or len(line) > MOST_ITEM_BYTES else line
            skipping = False
        if len(tail) > MOST_ITEM_BYTES:
            skipping = True
            tail = b""
    if tail or skipping:
        yield number + 1, None if skipping else tail
