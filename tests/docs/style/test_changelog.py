"""The changelog has the form of Keep a Changelog, and lines for users alone."""

import re
from datetime import date

from tests.docs.pages import DOCS

CHANGELOG = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
VERSION = re.compile(r"\[\d+\.\d+\.\d+\] - (\d{4}-\d{2}-\d{2})")
DEMO = {"demo", "stop", "clean"}  # the targets of those who try it


def test_versions_come_from_the_newest_to_the_oldest() -> None:
    first, *released = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert first == "[Unreleased]"
    assert [heading for heading in released if not VERSION.fullmatch(heading)] == []
    days = [date.fromisoformat(VERSION.sub(r"\1", heading)) for heading in released]
    assert days == sorted(days, reverse=True)


def test_groups_have_their_names_and_their_order() -> None:
    for version in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        groups = re.findall(r"^###+ (.+)$", version, re.MULTILINE)
        assert groups == [group for group in GROUPS if group in groups], "in this order"


def test_lines_are_for_users() -> None:
    assert set(re.findall(r"`make ([a-z-]+)", CHANGELOG)) <= DEMO
    assert re.findall(r"python -m (?:bench|tests)[\w.]*", CHANGELOG) == []
