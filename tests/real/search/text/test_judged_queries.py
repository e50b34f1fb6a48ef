"""Operators see which of their judged queries a new entry changes, before it is added."""

import json
from pathlib import Path

import pytest

from tests.support.api.operators import Shop

LORE, ASIIMOV = "AWP | Dragon Lore (Factory New)", "AWP | Asiimov (Field-Tested)"
JUDGED = [
    {"query": "awp asiimov", "names": [ASIIMOV], "every": True},
    {"query": "zweihorn", "names": [LORE]},
    {"query": "asiimov", "words": "asiimov", "filters": {"weapon": ["AWP"]}, "every": True},
    {"query": "qqqqq", "nothing": True},
]
RIGHT, NOTHING = {"first": LORE, "place": 1, "right": True}, {"first": None, "place": None, "right": False}


@pytest.fixture
def judged(tmp_path: Path) -> str:
    file = tmp_path / "judged.ndjson"
    file.write_text("".join(json.dumps(each) + "\n" for each in JUDGED), encoding="utf-8")
    return str(file)


async def test_a_test_names_the_judged_queries_that_change(shop: Shop, judged: str) -> None:
    shown = await shop.command("test", "zweihorn", "zweihorn", "--words", "dragon lore", "--judged", judged)
    assert (shown["before"]["total"], shown["after"]["names"]) == (0, [LORE])
    better = {"query": "zweihorn", "verdict": "better", "before": NOTHING, "after": RIGHT}
    assert shown["judged"] == {"queries": 4, "worse": 0, "changed": [better]}


async def test_a_test_fails_where_one_gets_worse(shop: Shop, judged: str) -> None:
    shown = await shop.failing("test", "asiimov", "asiimov", "--words", "dragon lore", "--judged", judged)
    assert shown["judged"]["worse"] == 2
    assert [(each["query"], each["verdict"]) for each in shown["judged"]["changed"]] == [
        ("awp asiimov", "worse"),
        ("asiimov", "worse"),
    ]
    assert await shop.command("list") == [], "nothing is changed"


async def test_what_makes_one_worse_is_added_by_force_alone(shop: Shop, judged: str) -> None:
    entry = ("pin", LORE, "--text", "asiimov", "--judged", judged)
    message = await shop.refused(*entry)
    assert "nothing was added: judged queries get worse (1); --force adds it" in message
    refused = await shop.failing(*entry)
    assert refused["judged"]["changed"][0]["after"] == {"first": LORE, "place": 2, "right": False}
    assert await shop.command("list") == []
    added = await shop.command(*entry, "--force")
    assert added["judged"] == refused["judged"]
    assert [each["id"] for each in await shop.command("list")] == [added["id"]]


async def test_what_makes_none_worse_is_added(shop: Shop, judged: str) -> None:
    added = await shop.command("add", "zweihorn", "--words", "dragon lore", "--judged", judged)
    assert (added["judged"]["worse"], len(added["judged"]["changed"])) == (0, 1)
    await shop.until("zweihorn", 1)
    hidden = await shop.failing("hide", LORE, "--judged", judged)
    (worse,) = hidden["judged"]["changed"]
    assert (worse["query"], worse["before"], worse["after"]) == ("zweihorn", RIGHT, NOTHING), "with what was added"


async def test_a_wrong_file_is_refused(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "wrong.ndjson"
    file.write_text('{"query": "awp"}\n', encoding="utf-8")
    message = await shop.refused("add", "zweihorn", "--words", "dragon lore", "--judged", str(file))
    assert "line 1 is no judged query: say what is right" in message
    assert await shop.command("list") == []


async def test_people_read_what_was_first(shop: Shop, judged: str) -> None:
    printed = await shop.printed("test", "zweihorn", "zweihorn", "--words", "dragon lore", "--judged", judged)
    assert printed.splitlines()[-4:] == [
        "judged: 1 of 4 queries change, 0 worse",
        "better: zweihorn",
        "  before, wrong: nothing",
        f"  after, right: {LORE}",
    ]
