"""Writes docs/benchmarks.md and its picture from the files in docs/measured.

A region of the page lies between `<!-- measured: NAME -->` and `<!-- end -->`, where NAME is one of REGIONS. What is
outside of the regions is written by hand.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.report import sections, summary
from bench.report.measured import Measured, PageError, is_at_size, is_changes, is_load, is_search

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = DOCS / "measured"
NOTHING = "Not measured yet."
_REGION = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)

REGIONS: dict[str, tuple[Callable[[Measured], bool], Callable[[Sequence[Measured]], str]]] = {
    "summary": (lambda _: True, summary.sentences),
    "searches": (is_search, sections.searches),
    "loads": (is_load, sections.loads),
    "changes": (is_changes, sections.changes),
    "at_size": (is_at_size, sections.at_size),
}


def page(text: str, files: Sequence[Measured]) -> str:
    """The page with its regions made of the files; raises PageError where a region is missing or unknown."""
    names = [name for _, name, _ in _REGION.findall(text)]
    if sorted(names) != sorted(REGIONS):
        message = f"the page has the regions {names} and not each of {list(REGIONS)} once"
        raise PageError(message)

    def region(match: re.Match[str]) -> str:
        is_kind, section = REGIONS[match[2]]
        section_files = [file for file in files if is_kind(file)]
        return f"{match[1]}\n{section(section_files) if section_files else NOTHING}\n\n{match[3]}"

    return _REGION.sub(region, text)


def write(files: Sequence[Measured], docs: Path = DOCS) -> None:
    """Rewrites the page's regions, and the picture."""
    file = docs / "benchmarks.md"
    file.write_text(page(file.read_text(encoding="utf-8"), files), encoding="utf-8")
    (docs / "benchmarks.svg").write_text(summary.picture(files), encoding="utf-8")
