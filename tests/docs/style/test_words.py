"""The documents use the field's words, not words of our own."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

DOCUMENTS = sorted([*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md")])
# Words of our own, each with the field's word for it.
PRIVATE_WORDS = {
    r"kept answers?|answers? (that (is|are) )?kept": "response cache, cached response",
    r"unkept": "without the response cache",
    r"dearest": "price_desc",
    r"masks?|masking": "index outbox, index update",
    r"twins?": "duplicate request",
    r"strangers": "unexpected documents",
    r"low water": "committed offset",
    r"patience": "retry timeout",
    r"senders": "concurrency",
    r"pushed back": "throttled",
    r"upkeep": "retention",
    r"(for|in) company": "linger",
    r"in force": "applied",
    r"(frozen|shared?) views?": "point in time",
    r"(a|the) walks?|walks? (by|over|of|through)": "cursor pagination, scan",
    r"is (told|asked) of": "is reported to, is requested from",
}


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_a_document_uses_the_fields_words(file: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`]*`", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())
    offenders = {
        match[0]: word
        for pattern, word in PRIVATE_WORDS.items()
        for match in re.finditer(rf"\b({pattern})\b", prose, re.IGNORECASE)
    }
    assert offenders == {}, "in place of each the word beside it"
