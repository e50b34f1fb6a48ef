"""Repairs: what is reported of them after several rounds."""

from collections.abc import Callable
from unittest.mock import Mock

from indexer.doctor.doctor import Doctor
from indexer.doctor.findings import Action, Code, Finding, Repair
from mappings.definition import read_definition


def _finding(code: Code) -> Finding:
    return Finding(code, 730, code, "is wrong", "repair it", Repair(Action.PUT_SETTINGS, code))


class _Sick(Doctor):
    """Two findings, of which the second can be repaired only when the first is gone."""

    left: tuple[Finding, ...] = (_finding(Code.REFRESH), _finding(Code.BLOCKED))

    def look(self) -> list[Finding]:
        return list(_Sick.left)

    def _repair(self, finding: Finding, say: Callable[[str], None]) -> str | None:
        if finding.code == Code.REFRESH and len(_Sick.left) > 1:
            return "it is blocked"
        _Sick.left = tuple(other for other in _Sick.left if other != finding)
        return None


def test_what_is_repaired_at_a_second_try_is_reported_as_repaired() -> None:
    doctor = _Sick(client=Mock(), address="", alias_of=str, definition=read_definition(), platforms=[], orders=None)
    assert [(finding.code, finding.fixed) for finding in doctor.run(fix=True, say=lambda text: None)] == [
        (Code.BLOCKED, True),
        (Code.REFRESH, True),
    ]
