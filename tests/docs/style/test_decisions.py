"""Every decision has the same form and stands in the index."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))
FORM = ["Context", "Decision", "Measured", "Not chosen", "Consequences"]


@pytest.mark.parametrize("file", DECISIONS, ids=lambda file: file.stem)
def test_a_decision_has_its_form(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    title = re.match(r"# (\d+)\. \S", text)
    assert title is not None
    assert int(title[1]) == int(file.name[:4])
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == [heading for heading in FORM if heading in headings], "in this order"
    assert set(FORM) - set(headings) <= {"Measured"}


def test_the_index_has_every_decision() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", index, re.MULTILINE)
    unused = re.findall(r"\d+", index.partition("Numbers without a record:")[2].partition(".")[0])
    numbers = {int(number) for number, _, _ in rows}
    assert {int(number) for number in unused} == set(range(1, max(numbers) + 1)) - numbers
    titles = [file.read_text(encoding="utf-8").split("\n", 1)[0] for file in DECISIONS]
    assert [(f"# {number}. {title}", name) for number, title, name in rows] == [
        (title, file.name) for title, file in zip(titles, DECISIONS, strict=True)
    ]
