"""The table of error codes and the exception that carries one of them. Pure: no framework."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from mappings.strict_model import plain_reason

# code: (status, default message). Ordered by status.
ERRORS: dict[str, tuple[int, str]] = {
    "bad_request": (400, "malformed or truncated HTTP request"),
    "invalid_json": (400, "the body is not valid JSON"),
    "unauthorized": (401, "a valid bearer token is needed"),
    "forbidden": (403, "the token does not have the scope that this operation needs, or the origin of the web page"),
    "not_found": (404, "there is nothing at this address"),
    "item_not_found": (404, "no item has this id"),
    "order_not_found": (404, "no order of yours has this id"),
    "delivery_not_found": (404, "the order has no callback of this number that could be sent"),
    "search_not_found": (404, "no saved search of yours has this id"),
    "method_not_allowed": (405, "this address does not take this method"),
    "item_unavailable": (409, "the item cannot be ordered: it is bound by another order or has no price"),
    "price_changed": (
        409,
        "the price or total is not as expected, or the price is above `maxPrice`; `error.price` is the current price",
    ),
    "not_enough": (409, "fewer items than wanted can be ordered at this price; `error.available` says how many"),
    "invalid_transition": (409, "the order cannot go from its present state to this one; the message says where it is"),
    "too_many_searches": (409, "the token has as many saved searches as it may; delete one"),
    "cursor_expired": (
        410,
        "the cursor was not used for 5 minutes, began 6 hours ago, or its point in time is gone; start a new one",
    ),
    "bookmark_expired": (410, "the bookmark is older than what is kept, or its log was lost; read all items again"),
    "personal_data_erased": (410, "the buyer's data of this order were erased"),
    "body_too_large": (413, "the body is larger than 65,536 bytes"),
    "uri_too_long": (414, "the request target is longer than 8,192 bytes"),
    "unsupported_media_type": (415, "the body must be sent as application/json, without Content-Encoding"),
    "validation_failed": (422, "a field breaks a rule; `error.details` names each"),
    "unknown_platform": (422, "no such platform is known"),
    "page_window_exceeded": (422, "the page lies beyond the first 10,000 hits; use a `cursor` instead of `page`"),
    "idempotency_key_reused": (422, "the Idempotency-Key was used for another body before"),
    "rate_limited": (429, "too many requests, or too costly ones, with this token or from this address"),
    "too_many_orders": (429, "the token or the account has reached its limit of undelivered orders"),
    "internal": (500, "a fault of ours; the request id helps to find it"),
    "overloaded": (503, "more requests than can be answered in time; try again"),
    "search_unavailable": (503, "the search engine does not answer"),
    "store_unavailable": (503, "the order store does not answer"),
}

MAX_DETAILS = 20


@dataclass(frozen=True)
class Detail:
    """What is wrong with one field, named by its dotted path such as `filters.weapon.3`."""

    field: str
    message: str


@dataclass
class ApiError(Exception):
    """An error response: a code of the table, a message and the fields that it is about."""

    code: str
    message: str = ""
    details: Sequence[Detail] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}: {self.message or ERRORS[self.code][1]}"


def invalid(path: str, message: str, code: str = "validation_failed") -> ApiError:
    """The 422 for one field."""
    return ApiError(code, f"{path}: {message}", [Detail(path, message)])


def dotted(location: Sequence[str | int]) -> str:
    """A location in a body as a path: `("filters", "weapon", 3)` is `filters.weapon.3`."""
    return ".".join(str(part) for part in location)


def from_details(details: Iterable[Detail], total: int) -> ApiError:
    """The 422 for so many wrong fields, of which the first are named: a client chooses their number."""
    named = list(islice(details, MAX_DETAILS))
    more = f" (and {total - 1:,} more)" if total > 1 else ""
    return ApiError("validation_failed", f"{named[0].field or 'body'}: {named[0].message}{more}", named)


def from_validation(problems: Sequence[Mapping[str, Any]]) -> ApiError:
    """The 422 for the problems that pydantic reports."""
    details = (Detail(dotted(problem["loc"]), plain_reason(problem["msg"])) for problem in problems)
    return from_details(details, len(problems))
