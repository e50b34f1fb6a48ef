"""The page /explore has words of facets and sorts that there are."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import pytest

from mappings.fields import FILTERS, SORTS

STATIC: Final = files("api.explore") / "static"
WORDS: Final = [STATIC / "words.js", *(STATIC / "languages").iterdir()]


@pytest.mark.parametrize("file", WORDS, ids=lambda file: str(file.name))
def test_no_words_are_left_of_a_filter_or_a_sort_that_is_gone(file: Traversable) -> None:
    """One without words is shown by its name."""
    keys = set(re.findall(r'"?\b((?:field|sort)_\w+)"?: "', file.read_text(encoding="utf-8")))
    filters = {f"field_{name}" for name in (*(row.name for row in FILTERS), "sticker", "sort")}
    assert keys <= filters | {f"sort_{sort.name}" for sort in SORTS}
    assert len(keys) > 20
