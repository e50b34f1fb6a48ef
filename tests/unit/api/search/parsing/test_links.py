"""Names in what is pasted: links, percent-encoding, trade posts."""

import pytest

from api.search.parsing.links import trade_part, unpacked

MARKET = "https://steamcommunity.com/market/listings/730/"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{MARKET}AK-47%20%7C%20Redline%20%28Field-Tested%29", "AK-47 | Redline (Field-Tested)"),
        (f"{MARKET}AK-47 | Redline (Field-Tested)", "AK 47 | Redline (Field-Tested)"),
        ("AK-47%20%7C%20Vulcan", "AK-47 | Vulcan"),
        ("skinport.com/item/awp-asiimov-field-tested", "awp asiimov field tested"),
        ("https://csgoskins.gg/items/ak-47-redline/field-tested", "ak 47 redline field tested"),
        ("https://csfloat.com/search?sort_by=lowest&market_hash_name=Glock-18%20%7C%20Fade", "Glock-18 | Fade"),
        ("https://buff.163.com/goods/33960?from=market", ""),
        ("fn/mw 50% off", "fn/mw 50% off"),
        ("a/b", "a/b"),
    ],
)
def test_a_link_is_the_name_in_it(text: str, name: str) -> None:
    assert unpacked(text) == name


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[H] keys [W] ak vulcan", " ak vulcan"),
        ("[H] ak vulcan [W] keys", " ak vulcan "),
        ("H: keys W: awp", " awp"),
        ("(h) awp", " awp"),
        ("[W] keys", "[W] keys"),
        ("ak vulcan", "ak vulcan"),
    ],
)
def test_a_trade_post_is_what_is_wanted_or_what_is_offered_for_a_payment(text: str, part: str) -> None:
    assert trade_part(text, lambda wanted: wanted.strip() == "keys") == part
