"""The list of folders in ARCHITECTURE.md is that of the tree."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import DOCS

ROOT = DOCS.parent
NAME = re.compile(r"(?<![\w/])([a-z_]+)/(?![\w*])")
IGNORED = {"var", "build", "dist", "node_modules", "secrets"}  # not tracked
NOT_IN_LISTING = {"store/migrations/versions"}  # one file a migration, made by Alembic


def listed() -> Iterator[str]:
    """The folders of the list, each with its path."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = [""] * 2  # the last folder of each level
    for line in page.partition("\n```text\n")[2].partition("\n```\n")[0].splitlines():
        level = (len(line) - len(line.lstrip())) // 2
        names = NAME.findall(line)
        if level <= 1:  # a folder's own line; those that it names lie in it
            paths[level] = f"{paths[level - 1]}{names.pop(0)}/" if level else f"{names.pop(0)}/"
            yield paths[level].rstrip("/")
        parent = paths[min(level, 1)] if level <= 2 else paths[0]  # further in, the text of the top's line goes on
        yield from (parent + name for name in names)


def folders(parent: Path) -> Iterator[Path]:
    """The tracked folders right below another one."""
    for folder in parent.iterdir():
        if folder.is_dir() and folder.name[0] not in "._" and folder.name not in IGNORED and any(folder.iterdir()):
            yield folder


def tree() -> Iterator[str]:
    """The folders of two levels, and packages of any."""
    for top in folders(ROOT):
        yield top.name
        for folder in folders(top):
            yield f"{top.name}/{folder.name}"
            if top.name != "tests":
                yield from (str(file.parent.relative_to(ROOT)) for file in folder.glob("*/__init__.py"))


def is_left_out(path: str) -> bool:
    return path in NOT_IN_LISTING or path.endswith(".egg-info") or path.startswith("clients/python/")


def test_the_list_of_folders_is_that_of_the_tree() -> None:
    paths = set(listed())
    assert sorted({path for path in tree() if not is_left_out(path)} - paths) == [], "they are in the tree alone"
    assert sorted(path for path in paths if not (ROOT / path).is_dir()) == [], "they are in the list alone"
