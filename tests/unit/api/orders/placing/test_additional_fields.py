"""Additional fields: an item is sent to the buyer's own account, or the order is refused with the rule it breaks."""

import pytest

from api.orders.placing.additional_fields import PLATFORM_ID, TRADE_LINK, broken_rules
from mappings.platforms import OrderRules, PlatformIdRule, TradeLinkRule, read_platforms

PLATFORM = read_platforms().by_id(730)
assert PLATFORM is not None
CS2 = PLATFORM.order

OWNER = "76561198000000001"  # 76561197960265728 + 39734273
LINK = "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=aBc-_123"
PLACE = "must be a link to https://steamcommunity.com/tradeoffer/new/"


@pytest.mark.parametrize(
    ("platform_id", "link"),
    [
        (None, None),
        (OWNER, None),
        (None, LINK),
        (OWNER, LINK),
        ("76561197960265729", "https://steamcommunity.com/tradeoffer/new/?partner=1&token=abcdefgh"),
        (None, "https://steamcommunity.com/tradeoffer/new/?partner=4294967295&token=abcdefgh"),
        (OWNER, LINK.replace("/new/", "/new")),
        (OWNER, LINK.replace("steamcommunity.com", "SteamCommunity.com:443")),
        (OWNER, "https://steamcommunity.com/tradeoffer/new/?token=aBc-_123&partner=39734273"),
        (OWNER, LINK + "&for_item=730_2_40000012345"),
    ],
)
def test_a_buyers_own_account_is_accepted(platform_id: str | None, link: str | None) -> None:
    assert broken_rules(CS2, platform_id, link) == []


@pytest.mark.parametrize(
    "platform_id",
    [
        *("", "1", "76561197960265728", "76561202255233024", "7656119800000000", "765611980000000010", "STEAM_0:1:1"),
        *(f" {OWNER}", f"{OWNER} ", f"+{OWNER}", "７６５６１１９８０００００００１", "7656119800000000١", f"{OWNER}.0"),
    ],
)
def test_what_is_no_steam_id_is_refused(platform_id: str) -> None:
    [detail] = broken_rules(CS2, platform_id, None)
    assert detail.field == PLATFORM_ID
    assert detail.message == "must be a SteamID64: a number from 76561197960265729 to 76561202255233023"


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("", PLACE),
        ("https://[", "is no URL"),
        ("https://steamcommunity.com:x/tradeoffer/new/?partner=1&token=abcdefgh", "is no URL"),
        (LINK.replace("https", "http"), PLACE),
        (LINK.replace("https://", ""), PLACE),
        (LINK.replace("steamcommunity.com", "steamcommunity.com.example.com"), PLACE),
        (LINK.replace("steamcommunity.com", "evil@steamcommunity.com"), PLACE),
        (LINK.replace("steamcommunity.com", "steamcommunity.com:8443"), PLACE),
        (LINK.replace("/new/", "/new/x"), PLACE),
        (LINK.replace("/tradeoffer/new/", "/id/somebody/"), PLACE),
        (LINK.replace("?", "? "), PLACE),
        (LINK.replace("partner", "Partner"), "must have the parameter 'partner' once"),
        (LINK + "&partner=39734273", "must have the parameter 'partner' once"),
        (LINK.split("&", maxsplit=1)[0], "must have the parameter 'token' once"),
        (LINK.replace("39734273", ""), "must have a valid 'partner': its form is [1-9]\\d{0,9}"),
        (LINK.replace("39734273", "٣٩"), "must have a valid 'partner': its form is [1-9]\\d{0,9}"),
        (LINK.replace("39734273", "039734273"), "must have a valid 'partner': its form is [1-9]\\d{0,9}"),
        (LINK + "9", "must have a valid 'token': its form is [A-Za-z0-9_-]{8}"),
        (LINK[:-1], "must have a valid 'token': its form is [A-Za-z0-9_-]{8}"),
        (LINK.replace("39734273", "4294967296"), "has a 'partner' that is no account's number"),
    ],
)
def test_what_is_no_trade_link_is_refused(link: str, message: str) -> None:
    [detail] = broken_rules(CS2, OWNER, link)
    assert (detail.field, detail.message) == (TRADE_LINK, message)


def test_a_link_of_somebody_else_is_refused() -> None:
    [detail] = broken_rules(CS2, OWNER, LINK.replace("39734273", "39734274"))
    assert detail.field == TRADE_LINK
    assert detail.message == ("belongs to another account than platformId: its 'partner' is that of 76561198000000002")


def test_both_fields_are_named_where_both_are_wrong() -> None:
    assert [detail.field for detail in broken_rules(CS2, "1", "x")] == [PLATFORM_ID, TRADE_LINK]
    assert [detail.field for detail in broken_rules(CS2, "1", LINK)] == [PLATFORM_ID]


def test_a_platform_without_rules_takes_any_text() -> None:
    assert broken_rules(OrderRules(), "anything", "anything") == []


def test_a_link_that_names_no_account_is_held_against_none() -> None:
    rule = TradeLinkRule(host="trade.example.com", path="/to", parameters={"key": "[a-z]+"})
    assert broken_rules(OrderRules(trade_link=rule), "anything", "https://trade.example.com/to?key=abc") == []
    counted = TradeLinkRule(host="t.example.com", path="/", parameters={"a": "[0-9]+"}, account_parameter="a")
    assert broken_rules(OrderRules(trade_link=counted), "7", "https://t.example.com/?a=7") == []
    identity = PlatformIdRule(name="an id", pattern="[0-9]", minimum=1, maximum=5)
    rules = OrderRules(platform_id=identity, trade_link=counted)
    assert [broken.field for broken in broken_rules(rules, None, "https://t.example.com/?a=7")] == [TRADE_LINK]
