"""The sandbox page has the scenarios of the code, row by row and no others."""

import re

from api.orders.sandbox.scenario import BY_ITEM, BY_TRADE_LINK, MOVED_PRICE, PRICE, SOON, Scenario
from tests.docs.pages import DOCS


def states(scenario: Scenario) -> str:
    """The column that says what an order goes through."""
    if scenario.refused is not None:
        status = {"item_unavailable": 409, "search_unavailable": 503}[scenario.refused]
        return f"{status} `{scenario.refused}`"
    moves = [("" if step.seconds == SOON else f"{step.seconds} s ") + f"`{step.to}`" for step in scenario.steps]
    return " → ".join(["`created`", *moves])


def test_the_page_has_every_row_and_no_others() -> None:
    page = (DOCS / "sandbox.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `.*$", page, re.MULTILINE)
    scenarios = [*BY_ITEM.items(), *BY_TRADE_LINK.items()]
    assert rows == [f"| `{name}` | {scenario.meaning} | {states(scenario)} |" for name, scenario in scenarios]


def test_the_page_names_the_prices() -> None:
    page = (DOCS / "sandbox.md").read_text(encoding="utf-8")
    assert f"costs {PRICE} in" in page
    assert f"costs {MOVED_PRICE}:" in page
    assert {name for name, scenario in BY_ITEM.items() if scenario.price != PRICE} == {"-41"}
