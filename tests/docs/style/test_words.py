"""The documents use the field's words, not words of our own."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES

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
# The same on the pages that people write and readers use; decisions are records and stay as they are.
OF_PAGES = {
    r"at work": "in flight; holds the lock",
    r"what serves": "the serving index",
    r"mended": "fixed",
    r"in vain": "without results",
}


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_a_document_uses_the_fields_words(file: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`]*`", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())
    is_page = file.name not in PAGES and file.parent.name != "decisions"
    words = PRIVATE_WORDS | OF_PAGES if is_page else PRIVATE_WORDS
    offenders = {
        match[0]: word
        for pattern, word in words.items()
        for match in re.finditer(rf"\b({pattern})\b", prose, re.IGNORECASE)
    }
    assert offenders == {}, "in place of each the word beside it"
