"""Each alert has its entry in the runbook, its place in the rules' tests, and the rules are what promtool takes."""

import re
import subprocess
from pathlib import Path

from tests.docs.pages import DOCS
from tests.support.faults.promtool import RULES, alerts, promtool

RUNBOOK = DOCS / "runbook.md"
TESTS = RULES.with_name("alerts_test.yml")


def test_each_alert_has_its_runbook_entry_and_each_entry_its_alert() -> None:
    entries = set(re.findall(r"^## (Gear\w+)$", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE))
    assert entries == set(alerts())
    for name, text in alerts().items():
        assert f"runbook_url: docs/runbook.md#{name.lower()}\n" in text
        assert re.search(r"labels: {severity: (page|ticket)}\n", text)


def test_each_alert_is_tested_to_fire() -> None:
    tested = set(re.findall(r'alertname="(\w+)"', TESTS.read_text(encoding="utf-8")))
    assert tested == set(alerts())


def test_the_rules_pass_their_tests() -> None:
    for arguments in (["check", "rules", str(RULES)], ["test", "rules", str(TESTS)]):
        result = subprocess.run([promtool(), *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr


def test_the_rule_files_are_where_the_documents_say() -> None:
    named = set(re.findall(r"`(?:promtool test rules )?(deploy/[\w./]+)`", RUNBOOK.read_text(encoding="utf-8")))
    assert named
    assert [name for name in named if not (Path(DOCS.parent) / name).is_file()] == []
