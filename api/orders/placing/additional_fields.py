"""Checks an order's additional fields by the rules of its platform. Pure."""

import re
from urllib.parse import parse_qsl, urlsplit

from api.errors import Detail
from mappings.platforms import OrderRules, PlatformIdRule, TradeLinkRule

PLATFORM_ID = "additionalFields.platformId"
TRADE_LINK = "additionalFields.tradeLink"


def broken_rules(rules: OrderRules, platform_id: str | None, trade_link: str | None) -> list[Detail]:
    """One detail for each field that breaks a rule; a field that is not given breaks none."""
    problems: dict[str, str | None] = {}
    if platform_id is not None and rules.platform_id is not None:
        problems[PLATFORM_ID] = _id_problem(rules.platform_id, platform_id)
    if trade_link is not None and rules.trade_link is not None:
        right_id = None if problems.get(PLATFORM_ID) else platform_id
        problems[TRADE_LINK] = _link_problem(rules, rules.trade_link, trade_link, right_id)
    return [Detail(field, problem) for field, problem in problems.items() if problem is not None]


def _id_problem(rule: PlatformIdRule, text: str) -> str | None:
    if re.fullmatch(rule.pattern, text, re.ASCII) and text.isdigit() and rule.minimum <= int(text) <= rule.maximum:
        return None
    return f"must be {rule.name}: a number from {rule.minimum} to {rule.maximum}"


def _link_problem(rules: OrderRules, rule: TradeLinkRule, link: str, platform_id: str | None) -> str | None:
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError:
        return "is no URL"
    right_host = parts.scheme == "https" and (parts.hostname, port) in ((rule.host, None), (rule.host, 443))
    right_path = parts.path.rstrip("/") == rule.path.rstrip("/")
    if not (right_host and right_path) or "@" in parts.netloc or any(character.isspace() for character in link):
        return f"must be a link to https://{rule.host}{rule.path}"
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    for name, pattern in rule.parameters.items():
        values = [value for key, value in parameters if key == name]
        if len(values) != 1:
            return f"must have the parameter {name!r} once"
        if not re.fullmatch(pattern, values[0], re.ASCII):
            return f"must have a valid {name!r}: its form is {pattern}"
    if rule.account_parameter is None:
        return None
    return _account_problem(rules, rule, dict(parameters)[rule.account_parameter], platform_id)


def _account_problem(rules: OrderRules, rule: TradeLinkRule, account: str, platform_id: str | None) -> str | None:
    owner = int(account) + rule.account_base
    if rules.platform_id is not None and not rules.platform_id.minimum <= owner <= rules.platform_id.maximum:
        return f"has a {rule.account_parameter!r} that is no account's number"
    if platform_id is not None and str(owner) != platform_id:
        return f"belongs to another account than platformId: its {rule.account_parameter!r} is that of {owner}"
    return None
