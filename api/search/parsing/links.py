"""Reads the item that a link names: links to pages of markets, percent-encoded names. Pure."""

import re
from urllib.parse import parse_qsl, unquote

# the part of a link that names an item, without the rest: `?name=AK-47+%7C+Redline&page=1`
_QUERY = re.compile(r"^\s*\?(?=[\w-]+=)\S+")
_LINK = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/\S*", re.IGNORECASE)
_ENCODED = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
# Parts of links that say nothing of an item, and the parameters that name one.
_COMMON_PARTS = re.compile(
    r"app|buy|channel|comments|(?:counter-?strike|cs|cs-?go)(?:-?2)?|csgo|db|de|detail|en|es|fr|goods|inventory|items?|listings?|market"
    r"|marketplace|pl|playlist|products?|profiles?|ru|search|shop|shorts|skins?|store|trade|users?|videos?|view|watch|weapons?",
    re.IGNORECASE,
)
# of what the address of a market has, at least one: a link to elsewhere names no item
_OF_MARKETS = re.compile(r"buff|cs|float|game|loot|market|price|shop|skin|steam|store|trade|\.gg$", re.IGNORECASE)
_SEARCH_PARAMETERS = frozenset(["keyword", "q", "query", "search", "text", "title"])
_NAME_PARAMETERS = _SEARCH_PARAMETERS | {"exterior", "item", "market_hash_name", "name", "phase"}
_SEPARATORS = re.compile(r"[-_+]+")
_HAS_LETTER = re.compile(r"[^\W\d_]")


def links_as_names(text: str) -> str:
    """The text, names in the place of links, percent-encoding read."""
    text = _QUERY.sub(lambda match: " ".join(_named(match.group(), _NAME_PARAMETERS)) or match.group(), text)
    text = _LINK.sub(lambda match: _name_in(match.group()), text)
    return unquote(text, errors="ignore") if _ENCODED.search(text) else text


def is_listing(text: str) -> bool:
    """Whether the text has a link to one item, not to a search."""
    links = (match.group() for match in _LINK.finditer(text)) if "/" in text else ()
    return any(_name_in(link) not in ("", link) and not _named(link, _SEARCH_PARAMETERS) for link in links)


def _named(link: str, parameters: frozenset[str]) -> list[str]:
    return [value for key, value in parse_qsl(link.partition("?")[2]) if key.lower() in parameters]


def _name_in(link: str) -> str:
    if named := _named(link, _NAME_PARAMETERS):
        return " ".join(named)
    path = link.partition("?")[0]
    host, _, path = path.rpartition("://")[2].partition("/")
    parts = [unquote(part, errors="ignore") for part in path.split("/")]
    others = [part for part in parts if not _COMMON_PARTS.fullmatch(part)]
    named = [part for part in others if _HAS_LETTER.search(part)]
    if named and len(others) == len(parts) and not _OF_MARKETS.search(host):
        return link
    return " ".join(part if " " in part else _SEPARATORS.sub(" ", part) for part in named)
