"""The documents can be read at once: no sentence, no paragraph and no cell of a table is too long."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES

MAX_SENTENCE = 30  # words
MAX_PARAGRAPH = 70
MAX_CELL = 45  # of a table; decisions are records, and stay as they are
LOGS = {"resiliency.md"}  # of what each fault does: half as long again
DOCUMENTS = [file for file in sorted([*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md")]) if file.name not in PAGES]


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and points of lists, each on one line."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#| *\|).*$", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?= *(?:-|\d+\.) )", text):
        yield as_read(re.sub(r"^ *(?:-|\d+\.) |<img[^>]*>", "", " ".join(block.split())))


def cells(text: str) -> Iterator[str]:
    """The cells of all tables."""
    for row in re.findall(
        r"^ *\|(.*)\|$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    ):
        yield from map(as_read, re.split(r"(?<!\\)\|", row))


def as_read(text: str) -> str:
    """The text with code as one word, and links by their text."""
    return re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", text))


def sentences(paragraph: str) -> list[str]:
    """A sentence ends where a full stop stands before what may begin another."""
    return re.split(r"(?<=[.!?])[*)\"]* (?=[\[*\"(\w])", paragraph)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_nothing_is_too_long_to_read_at_once(file: Path) -> None:
    factor = 1.5 if file.name in LOGS else 1
    texts = list(paragraphs(file.read_text(encoding="utf-8")))
    assert [text for text in texts if len(text.split()) > MAX_PARAGRAPH * factor] == []
    assert [part for text in texts for part in sentences(text) if len(part.split()) > MAX_SENTENCE * factor] == []


@pytest.mark.parametrize(
    "file", [file for file in DOCUMENTS if file.parent.name != "decisions"], ids=lambda file: file.name
)
def test_no_cell_of_a_table_is_too_long(file: Path) -> None:
    assert [cell for cell in cells(file.read_text(encoding="utf-8")) if len(cell.split()) > MAX_CELL] == []
