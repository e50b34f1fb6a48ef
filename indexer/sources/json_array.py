"""A JSON array: chunks of bytes in, the text of each element with its line number out, one element held at a time.

Only the elements' extents are found here; whether an element is valid JSON is for the validation to say, so that one
broken item is one refused item. Brackets that do not match, or an array that does not end, are errors.
"""

import re
from collections.abc import Iterator

from indexer.sources.lines import BLANKS, MOST_ITEM_BYTES, SourceError
from indexer.sources.record import Record

# Whole strings and all else up to the next bracket (outside of an element's brackets: or comma). No match: the text
# ends before that, perhaps within a string. Possessive, so that it never goes back into a string.
_PASSED_WITHIN = rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+'
_PASSED_BETWEEN = rb'(?:[^"{}\[\],]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+'
_WITHIN = re.compile(_PASSED_WITHIN + rb"([{}\[\]])", re.DOTALL)
_BETWEEN = re.compile(_PASSED_BETWEEN + rb"([{}\[\],])", re.DOTALL)
# The same up to where the text at hand ends, or a string that goes on behind it begins.
_ALL_WITHIN = re.compile(_PASSED_WITHIN, re.DOTALL)
_ALL_BETWEEN = re.compile(_PASSED_BETWEEN, re.DOTALL)
_KEY = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*+:', re.DOTALL)


def array_items(chunks: Iterator[bytes]) -> Iterator[Record]:
    """The elements of the one array that the text is; raises SourceError where it is no complete array."""
    scan = Scan(chunks)
    scan.skip_blanks()
    scan.position += 1  # the opening bracket, which the caller has seen
    scan.skip_blanks()
    if scan.next_byte() == b"]":
        scan.position += 1
    else:
        while True:
            yield scan.element()
            if scan.take_separator() == b"]":
                break
    scan.skip_blanks()
    if scan.next_byte():
        message = f"line {scan.line}: there is more after the end of the array"
        raise SourceError(message)


class Scan:
    """A window on the text: `position` is the next byte, `line` its line."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._text = b""
        self.position = 0
        self._counted = 0
        self._line = 1

    @property
    def line(self) -> int:
        """The line of the next byte, counted from 1."""
        self._line += self._text.count(b"\n", self._counted, self.position)
        self._counted = self.position
        return self._line

    def next_byte(self) -> bytes:
        """The next byte without taking it; empty at the end."""
        while self.position >= len(self._text):
            if not self._more():
                return b""
        return self._text[self.position : self.position + 1]

    def skip_blanks(self) -> None:
        """Goes to the next byte that is no blank, or to the end."""
        while (byte := self.next_byte()) and byte in BLANKS:
            self.position += 1

    def take_separator(self) -> bytes:
        """Takes the comma or the closing bracket behind an element."""
        separator = self.next_byte()
        self.position += 1
        return separator

    def element(self, end: bytes = b"]") -> Record:
        """Takes the text up to the comma, or the bracket `end`, behind this element."""
        self.skip_blanks()
        line = self.line
        at = self.position
        depth = 0
        while True:
            match = (_WITHIN if depth > 0 else _BETWEEN).match(self._text, at)
            if match is None:
                at -= self.position
                self.more_of(line)
                continue
            at = match.end()
            token = match.group(1)
            if depth == 0 and token in (b",", end):
                text = self._text[self.position : at - 1]
                self.position = at - 1
                return Record(line, text)
            depth += 1 if token in b"{[" else -1

    def skip_element(self, end: bytes) -> None:
        """Goes to the comma or the bracket `end` behind an element of any size, which is not held."""
        line = self.line
        depth = 0
        while True:
            passed = (_ALL_WITHIN if depth > 0 else _ALL_BETWEEN).match(self._text, self.position)
            self.position = self.position if passed is None else passed.end()
            token = self._text[self.position : self.position + 1]
            if token in (b"", b'"'):
                self.more_of(line)
                continue
            if depth == 0 and token in (b",", end):
                return
            self.position += 1
            depth += 1 if token in b"{[" else -1

    def key(self) -> bytes:
        """Takes the name of a member and the colon behind it; its JSON text."""
        line = self.line
        while True:
            match = _KEY.match(self._text, self.position)
            if match is not None:
                self.position = match.end()
                return match.group(1)
            if self.next_byte() not in (b'"', b""):
                message = f"line {line}: the name of a member of the object is expected here"
                raise SourceError(message)
            self.more_of(line)

    def more_of(self, line: int) -> None:
        """Reads on within what began at `line`; raises SourceError at the end, or where it is too large to hold."""
        if not self._more():
            message = f"line {line}: the text breaks off within or after the item that begins here"
            raise SourceError(message)
        if len(self._text) > MOST_ITEM_BYTES:
            message = f"line {line}: the item that begins here does not end within {MOST_ITEM_BYTES:,} bytes"
            raise SourceError(message)

    def _more(self) -> bool:
        """Reads on; what was taken is dropped, so that `position` becomes 0."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        _ = self.line
        self._text = self._text[self.position :] + chunk
        self.position = self._counted = 0
        return True
