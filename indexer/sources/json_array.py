"""Reads a JSON array element by element: one record each, with the number of the line on which the element begins.

Only the extent of an element is found here. Whether it is valid JSON is for the validation to say, so that a broken
element is one refused item. Brackets that do not match, or an array that does not end, are errors.
"""

import re
from collections.abc import Iterator

from indexer.sources.records import BLANKS, MAX_ITEM_BYTES, Record, SourceError

# Complete strings and everything else up to the next bracket (outside of an element's brackets: or comma), to the end
# of the window, or to a string that continues behind it. Possessive, so that it never backtracks into a string.
_WITHIN = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_BETWEEN = re.compile(rb'(?:[^"{}\[\],]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_KEY = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*+:', re.DOTALL)


def array_items(chunks: Iterator[bytes]) -> Iterator[Record]:
    """The elements of the array; raises SourceError where the text is no complete array."""
    window = JsonWindow(chunks)
    yield from elements(window)
    window.skip_blanks()
    if window.next_byte():
        raise SourceError(f"line {window.line}: there is more after the end of the array")


def elements(window: "JsonWindow") -> Iterator[Record]:
    """The elements of an array that is to begin here; raises SourceError where it does not."""
    for _ in window.entries(b"[]", "the array of the items"):
        yield window.read_element()


class JsonWindow:
    """A window on the text that moves forward: `position` is the next byte, `line` its line."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._text = b""
        self.position = 0
        self._counted = 0
        self._line = 1

    @property
    def line(self) -> int:
        self._line += self._text.count(b"\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    def next_byte(self) -> bytes:
        """Peeks at the next byte; empty at the end."""
        while not (byte := self._text[self.position : self.position + 1]) and self._extend():
            pass
        return byte

    def skip_blanks(self) -> None:
        """Moves to the next byte that is no blank, or to the end."""
        while (byte := self.next_byte()) and byte in BLANKS:
            self.position += 1

    def entries(self, brackets: bytes, what: str) -> Iterator[None]:
        """Stops at each element or member, which the caller reads up to the comma or the bracket behind it; raises
        SourceError where no such brackets begin here.
        """
        begin, end = brackets[:1], brackets[1:]
        self.skip_blanks()
        if self.next_byte() != begin:
            raise SourceError(f"line {self.line}: {what} is expected here, which begins with {begin.decode()}")
        self.position += 1
        self.skip_blanks()
        is_last = self.next_byte() == end
        self.position += is_last
        while not is_last:
            yield
            is_last = self.next_byte() == end
            self.position += 1

    def read_element(self, end: bytes = b"]") -> Record:
        """Reads the element up to the comma, or the bracket `end`, behind it."""
        self.skip_blanks()
        line = self.line
        stop = self._element_end(end, hold=True)
        text = self._text[self.position : stop]
        self.position = stop
        return Record(line, text)

    def skip_element(self, end: bytes) -> None:
        """Moves to the comma or the bracket `end` behind an element of any size, without holding it."""
        self.position = self._element_end(end, hold=False)

    def _element_end(self, end: bytes, *, hold: bool) -> int:
        """Where in the window the element ends that begins here; without `hold` what was read of it is dropped."""
        line = self.line
        at = self.position
        depth = 0
        while True:
            skipped = (_WITHIN if depth > 0 else _BETWEEN).match(self._text, at)
            at = at if skipped is None else skipped.end()
            token = self._text[at : at + 1]
            if token in (b"", b'"'):
                self.position = self.position if hold else at
                at -= self.position
                self.extend_within(line)
            elif depth == 0 and token in (b",", end):
                return at
            else:
                at += 1
                depth += 1 if token in b"{[" else -1

    def read_key(self) -> bytes:
        """Reads the name of a member, as JSON text, and the colon behind it."""
        self.skip_blanks()
        line = self.line
        while True:
            match = _KEY.match(self._text, self.position)
            if match is not None:
                self.position = match.end()
                return match.group(1)
            if self.next_byte() not in (b'"', b""):
                raise SourceError(f"line {line}: the name of a member of the object is expected here")
            self.extend_within(line)

    def extend_within(self, line: int) -> None:
        """Extends the window within what began at `line`; raises SourceError at the end or where it is too large."""
        if len(self._text) - self.position > MAX_ITEM_BYTES:
            raise SourceError(f"line {line}: the item that begins here does not end within {MAX_ITEM_BYTES:,} bytes")
        if not self._extend():
            raise SourceError(f"line {line}: the text breaks off within or after the item that begins here")

    def _extend(self) -> bool:
        """Extends the window and drops what was read, so that `position` becomes 0."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        _ = self.line
        self._text = self._text[self.position :] + chunk
        self.position = self._counted = 0
        return True
