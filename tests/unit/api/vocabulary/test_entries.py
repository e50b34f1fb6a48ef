"""Entries as they are sent, and those of the store as a worker reads them."""

from datetime import UTC, datetime

import pytest

from api.vocabulary.entries import entries_of
from api.vocabulary.schemas import TermFields
from store.vocabulary_terms import StoredEntry
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
HIDE = '{"hide": {"names": ["AK-47 | Redline (Field-Tested)"]}}'


@pytest.mark.parametrize(
    "unreadable",
    ['{"spellings": ["★"], "words": "redline"}', '{"spellings": ["rl"], "kind": "new"}', '{"show": {"names": ["AK"]}}'],
)
def test_an_entry_that_this_version_cannot_read_keeps_no_other_out(unreadable: str) -> None:
    rows = [
        StoredEntry(id=text, platform=CS2.id, term=text, author=None, created_at=datetime.now(UTC))
        for text in (unreadable, HIDE)
    ]
    entries = entries_of(CS2, rows)
    assert CS2.vocabulary_with(entries.terms) is None
    assert [each.names for each in entries.hides] == [("AK-47 | Redline (Field-Tested)",)]
    assert len(entries) == 1


@pytest.mark.parametrize("fields", [{}, {"words": " "}, {"filters": {}}])
def test_a_term_without_a_meaning_names_what_may_be_given(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"'zzz1' means nothing: give it filters or words \["):
        TermFields.model_validate({"spellings": ["zzz1"], **fields})
