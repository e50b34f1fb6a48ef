"""Which scenario an order of the sandbox has, and when its steps are due."""

from datetime import UTC, datetime, timedelta

import pytest

from api.orders.sandbox.scenario import BY_ITEM, BY_TRADE_LINK, SLOWLY, SOON, Scenario, moves, scenario_of

LINK = "https://steamcommunity.com/tradeoffer/new/?partner=1"


@pytest.mark.parametrize(
    ("item", "link", "scenario"),
    [
        ("-10", None, BY_ITEM["-10"]),
        ("-10000017", f"{LINK}&token=abcdefgh", BY_ITEM["-10"]),
        ("-10", f"{LINK}&token=SBX-FAIL", BY_TRADE_LINK["SBX-FAIL"]),
        ("-10", LINK, BY_ITEM["-10"]),
        ("-10", "https://[", BY_ITEM["-10"]),
        ("-40", f"{LINK}&token=SBX-FAIL", BY_ITEM["-40"]),
        ("-99", f"{LINK}&token=SBX-FAIL", None),
        ("10", None, None),
        ("-1", None, None),
    ],
)
def test_an_item_has_its_scenario_unless_the_trade_link_has_another(
    item: str, link: str | None, scenario: Scenario | None
) -> None:
    assert scenario_of(item, link) == scenario


def test_steps_are_due_one_after_the_other() -> None:
    placed_at = datetime(2026, 1, 1, tzinfo=UTC)
    planned = moves(BY_TRADE_LINK["SBX-HOLD"].steps, placed_at)
    assert [(move.from_state, move.to_state) for move in planned] == [
        ("created", "processing"),
        ("processing", "delivered"),
        ("delivered", "completed"),
    ]
    waits = [SOON, 2 * SOON, 2 * SOON + SLOWLY]
    assert [move.due_at - placed_at for move in planned] == [timedelta(seconds=wait) for wait in waits]
    assert planned[-1].reason == "the hold of the trade has ended"
