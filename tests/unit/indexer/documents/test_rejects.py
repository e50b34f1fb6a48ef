"""The rejects file: made only when there is something to say, in the place of an older one, or a clear error."""

from pathlib import Path

import orjson
import pytest

from indexer.documents.refusal import Refusal
from indexer.documents.rejects import MAX_REASONS, OTHER_REASONS, RejectsFile
from indexer.errors import CommandError

PRICE = Refusal("price", "-1", "must not be negative")
NAME = Refusal("name", None, "Field required")


def test_no_reject_no_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with RejectsFile(target) as rejects:
        rejects.close()
    assert rejects.path is None
    assert not target.exists()


def test_each_reject_is_one_line_with_all_its_faults(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("of an earlier load\n")
    with RejectsFile(target) as rejects:
        rejects.write("items.csv", 7, 5, (PRICE, NAME))
        rejects.write("items.csv", 8, None, (NAME,))
    first, second = (orjson.loads(line) for line in target.read_bytes().splitlines())
    assert first == {
        "file": "items.csv",
        "line": 7,
        "id": 5,
        "field": "price",
        "value": "-1",
        "reason": "must not be negative",
        "more": [{"field": "name", "reason": "Field required"}],
    }
    assert second["id"] is None
    assert rejects.path == str(target)


@pytest.mark.parametrize("target", [Path("/proc/nowhere/a"), Path("/")])
def test_a_place_that_cannot_be_written_names_the_option(target: Path) -> None:
    with RejectsFile(target) as rejects, pytest.raises(CommandError, match="--rejects"):
        rejects.write("a", 1, 1, (NAME,))


def test_a_disk_that_is_full_is_reported() -> None:
    rejects = RejectsFile(Path("/dev/full"))
    rejects.write("a", 1, 1, (NAME,))
    with pytest.raises(CommandError, match="No space left"):
        rejects.close()


def test_an_appended_file_keeps_what_it_had_and_shows_what_was_flushed(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("of an earlier run\n")
    with RejectsFile(target, append=True) as rejects:
        rejects.flush()
        rejects.write("topic", 7, 5, (PRICE,))
        rejects.flush()
        assert len(target.read_bytes().splitlines()) == 2


def test_a_disk_that_is_full_is_reported_by_a_flush() -> None:
    rejects = RejectsFile(Path("/dev/full"))
    rejects.write("topic", 7, 5, (PRICE,))
    with pytest.raises(CommandError, match="No space left on device"):
        rejects.flush()
    with pytest.raises(CommandError, match="No space left on device"):
        rejects.close()


def test_reasons_are_counted_by_field_and_rule_and_do_not_grow_without_end(tmp_path: Path) -> None:
    with RejectsFile(tmp_path / "r.ndjson") as rejects:
        for line in range(3):
            rejects.write("s", line, None, (Refusal("name", None, "Field required"),))
        for line in range(MAX_REASONS + 5):
            rejects.write("s", line, None, (Refusal(None, None, f"Invalid JSON at {line}"),))
    reasons = rejects.reasons()
    assert next(iter(reasons.items())) in {("name: Field required", 3), (OTHER_REASONS, 6)}
    assert reasons["name: Field required"] == 3
    assert reasons[OTHER_REASONS] == 6
    assert len(reasons) == MAX_REASONS + 1
