"""`gear-api token`: what a token is restricted to is checked when it is created, and listed."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from tests.support.store.migrated import migrated


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A migrated SQLite file."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/gear.db"
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    asyncio.run(migrated(url))
    return tmp_path / "gear.db"


def create(*options: str) -> Result:
    return CliRunner().invoke(main, ["token", "create", "--name", "shop", "--scope", "search", *options])


def listed(*options: str) -> str:
    return CliRunner().invoke(main, ["token", "list", *options]).stdout


FILTER = '{"weapon": ["AK-47"], "price": {"max": 19.99}}'
RESTRICTED = (
    *("--rate-limit", "500", "--filter", FILTER),
    *("--origin", "https://shop.example", "--origin", "http://localhost:3000"),
)


@pytest.mark.usefixtures("file")
def test_a_token_for_browsers_is_shown_and_listed() -> None:
    created: dict[str, Any] = json.loads(create(*RESTRICTED, "--json").stdout)
    (entry,) = json.loads(listed("--json"))
    for shown in (created, entry):
        assert shown["rateLimit"] == 500
        assert shown["filters"] == {"weapon": ["AK-47"], "price": {"max": 19.99}}
        assert shown["origins"] == ["https://shop.example", "http://localhost:3000"]
        assert shown["lastUsedAt"] is None
    (line,) = listed().splitlines()
    assert "  used never  rate limit 500  filter " in line
    assert line.endswith("  origins https://shop.example http://localhost:3000")
    lines = dict(line.split(": ", 1) for line in create(*RESTRICTED).stdout.splitlines())
    assert lines["filters"] == FILTER
    assert lines["rateLimit"] == "500"


@pytest.mark.usefixtures("file")
def test_a_token_of_a_sandbox_is_listed_as_one() -> None:
    create()
    create("--sandbox")
    assert sorted("  search  sandbox  expires never" in line for line in listed().splitlines()) == [False, True]


def test_the_last_use_is_listed(file: Path) -> None:
    create()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE tokens SET last_used_at = 1767225600000000")
        connection.commit()
    assert json.loads(listed("--json"))[0]["lastUsedAt"] == "2026-01-01T00:00:00.000Z"
    assert "  used 2026-01-01T00:00:00.000Z" in listed()


@pytest.mark.usefixtures("file")
def test_a_rate_limit_is_set_later_and_given_back() -> None:
    create("--rate-limit", "7")
    limit = ["token", "limit", "shop", "--json"]
    for options, expected in ((["--rate-limit", "9"], 9), ([], None)):
        assert json.loads(CliRunner().invoke(main, [*limit, *options]).stdout)["rateLimit"] == expected
        assert json.loads(listed("--json"))[0]["rateLimit"] == expected


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--filter", "{"), 2, "'--filter': Expecting property name enclosed in double quotes at line 1 column 2"),
        (("--filter", "[]"), 2, "'--filter': the body must be a JSON object"),
        (("--filter", "{}"), 2, "'--filter': it filters nothing"),
        (("--filter", '{"weapon": [], "price": {"min": null}, "attachments": {}}'), 2, "it filters nothing"),
        (("--filter", '{"weapons": ["AK-47"]}'), 2, "weapons: Extra inputs are not permitted"),
        (("--filter", '{"weapon": [7]}'), 2, "weapon.0: Input should be a valid string"),
        (("--filter", '{"price": {"min": 2, "max": 1}}'), 2, "price: min 2 is more than max 1"),
        (("--filter", '{"weapon": ["\\udcff"]}'), 2, "'--filter': a string has a lone surrogate"),
        (("--filter", FILTER, "--scope", "order"), 1, "has the scope search alone"),
        (("--origin", "shop.example"), 2, "'shop.example' is no origin"),
        (("--origin", "https://shop.example/"), 2, "as browsers send it"),
        (("--origin", "*"), 2, "'*' is no origin"),
        (("--rate-limit", "0"), 2, "'--rate-limit': 0 is not in the range"),
        (("--rate-limit", "5/second"), 2, "'--rate-limit': '5/second' is not a valid integer"),
    ],
)
def test_a_restriction_that_cannot_be_is_refused(options: tuple[str, ...], status: int, message: str) -> None:
    result = create(*options, "--json")
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in " ".join(result.stderr.split())
    assert json.loads(listed("--json")) == []
