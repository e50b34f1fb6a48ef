"""Limits: the constants that requests are checked with in, the same numbers for machines to read out."""

from datetime import UTC
from typing import Any

from api.errors import ERRORS
from api.http.json_body import MAX_BODY_BYTES
from api.orders import schemas as orders
from api.search.engine.client import IndexedPlatform
from api.search.pagination.point_in_time import KEEP_SECONDS
from api.search.schemas.facets import MOST_VALUES
from api.search.schemas.search import DEFAULT_LIMIT, MOST_LIMIT, MOST_QUERY_CHARACTERS, PAGE_WINDOW
from api.search.schemas.values import MOST_VALUE_CHARACTERS
from api.search.suggest.service import DEFAULT_SUGGESTIONS, MOST_SUGGESTIONS, MOST_TEXT_CHARACTERS
from api.settings import Settings
from mappings.fields import FACETS, FILTERS, SORTS, Filter, Kind
from mappings.money import MOST_PRICE
from mappings.platforms import Platform

_KINDS = {
    Kind.FOLDED: "values",
    Kind.WHOLE: "integers",
    Kind.MONEY: "range",
    Kind.RANGE: "range",
    Kind.ATTACHED: "attachments",
}


def platform_entry(platform: Platform, indexed: IndexedPlatform) -> dict[str, Any]:
    """A platform as `GET /v1/platforms` shows it."""
    since = indexed.indexed_at
    return {
        "id": platform.id,
        "slug": platform.slug,
        "name": platform.name,
        "currency": platform.currency,
        "items": indexed.items,
        "indexedAt": None if since is None else since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "filters": [_filter_entry(row) for row in FILTERS],
    }


def _filter_entry(row: Filter) -> dict[str, Any]:
    return {"name": row.name, "kind": _KINDS[row.kind], **_bounds(row), "facet": row.facet}


def _bounds(row: Filter) -> dict[str, int]:
    if row.kind is Kind.MONEY:
        return {"minimum": 0, "maximum": int(MOST_PRICE)}
    if row.kind is Kind.RANGE:
        return {"minimum": 0, "maximum": 1}
    if row.kind is Kind.ATTACHED:
        return {"maxValues": row.most, "maxCharacters": MOST_VALUE_CHARACTERS, "minimum": 0, "maximum": 1}
    if row.kind is Kind.WHOLE:
        return {"maxValues": row.most}
    return {"maxValues": row.most, "maxCharacters": MOST_VALUE_CHARACTERS}


def limits(settings: Settings) -> dict[str, Any]:
    """The sorts, the limits and the error codes of all operations."""
    return {
        "sorts": [sort.name for sort in SORTS],
        "limits": {
            "bodyBytes": MAX_BODY_BYTES,
            "queryCharacters": MOST_QUERY_CHARACTERS,
            "limit": MOST_LIMIT,
            "defaultLimit": DEFAULT_LIMIT,
            "pageWindow": PAGE_WINDOW,
            "cursorSeconds": round(KEEP_SECONDS),
            "facets": len(FACETS),
            "facetValues": MOST_VALUES,
            "suggestCharacters": MOST_TEXT_CHARACTERS,
            "suggestLimit": MOST_SUGGESTIONS,
            "defaultSuggestLimit": DEFAULT_SUGGESTIONS,
            "accountCharacters": orders.MAX_ACCOUNT_CHARACTERS,
            "emailCharacters": orders.MAX_EMAIL_CHARACTERS,
            "codeCharacters": orders.MAX_CODE_CHARACTERS,
            "attributionCharacters": orders.MAX_ATTRIBUTION_CHARACTERS,
            "urlCharacters": orders.MAX_URL_CHARACTERS,
            "requestRate": settings.rate_limit or None,
        },
        "errors": [{"code": code, "status": status, "message": message} for code, (status, message) in ERRORS.items()],
    }
