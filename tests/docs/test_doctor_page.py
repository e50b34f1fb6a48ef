"""The doctor's page names every finding with the test that causes it on a real engine."""

import re

from indexer.doctor.findings import Code
from tests.docs.pages import DOCS

ROW = re.compile(r"^\| `([a-z-]+)` \|.*\| ([^|]+) \|$", re.MULTILINE)
REAL = DOCS.parent / "tests" / "real" / "indexer" / "doctor"


def test_every_finding_is_on_the_page_with_a_test_on_a_real_engine() -> None:
    rows = dict(ROW.findall((DOCS / "doctor.md").read_text(encoding="utf-8")))
    assert set(rows) == {str(code) for code in Code}
    tests_of_the_doctor = {
        name
        for file in REAL.glob("test_*.py")
        for name in re.findall(r"def (test_[a-z0-9_]+)", file.read_text(encoding="utf-8"))
    }
    for code, tests in rows.items():
        named = re.findall(r"`(test_[a-z0-9_]+)`", tests)
        assert named, f"{code} needs the test that makes it"
        assert set(named) <= tests_of_the_doctor, f"{code}: {set(named) - tests_of_the_doctor} is no test of the doctor"
