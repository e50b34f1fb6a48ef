"""The documents can be read at once: no sentence and no paragraph is too long."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES

MAX_SENTENCE, MAX_PARAGRAPH = 30, 70  # words
MAX_SENTENCE_OF_RECORDS, MAX_PARAGRAPH_OF_RECORDS = 45, 100  # of decisions, and of what each fault does
DOCUMENTS = [file for file in sorted([*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md")]) if file.name not in PAGES]


def is_record(file: Path) -> bool:
    """Whether a document is a record that its readers look things up in."""
    return file.parent.name == "decisions" or file.name == "resiliency.md"


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and points of lists, each on one line; code counts as one word, links by their text."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#| *\|).*$", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?= *(?:-|\d+\.) )", text):
        prose = re.sub(r"^ *(?:-|\d+\.) |<img[^>]*>", "", " ".join(block.split()))
        yield re.sub(r"`[^`]*`", "x", re.sub(r"\]\([^)]*\)", "]", prose))


def sentences(paragraph: str) -> list[str]:
    """A sentence ends where a full stop stands before what may begin another."""
    return re.split(r"(?<=[.!?])[*)\"]* (?=[\[*\"(\w])", paragraph)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_nothing_is_too_long_to_read_at_once(file: Path) -> None:
    most = (MAX_SENTENCE_OF_RECORDS, MAX_PARAGRAPH_OF_RECORDS) if is_record(file) else (MAX_SENTENCE, MAX_PARAGRAPH)
    found = list(paragraphs(file.read_text(encoding="utf-8")))
    assert [text for text in found if len(text.split()) > most[1]] == []
    assert [part for text in found for part in sentences(text) if len(part.split()) > most[0]] == []
