"""The page /explore has every facet and sort, with words for them."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import pytest

from mappings.fields import FACETS, SORTS, Kind

STATIC: Final = files("api.explore") / "static"
WORDS: Final = [STATIC / "words.js", *(STATIC / "languages").iterdir()]


def listed(name: str) -> set[str]:
    """A list of names in the page's module of addresses."""
    source = (STATIC / "route.js").read_text(encoding="utf-8")
    return set(re.findall(r'"(\w+)"', re.findall(rf"export const {name} = \[(.*?)\];", source)[0]))


def test_the_page_has_every_facet_and_sort() -> None:
    assert listed("LISTS") == {row.name for row in FACETS if row.kind is Kind.FOLDED}
    assert listed("RANGES") == {row.name for row in FACETS if row.kind is not Kind.FOLDED}
    assert listed("SORTS") == {sort.name for sort in SORTS}


@pytest.mark.parametrize("file", WORDS, ids=lambda file: str(file.name))
def test_every_facet_and_sort_has_words(file: Traversable) -> None:
    keys = set(re.findall(r'"?(\w+)"?: "', file.read_text(encoding="utf-8")))
    assert {f"field_{row.name}" for row in FACETS} | {f"sort_{sort.name}" for sort in SORTS} <= keys
