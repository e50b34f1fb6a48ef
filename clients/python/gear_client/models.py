"""Requests and responses of the HTTP API; written by `make clients`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AmountsResponse(TypedDict):
    """
    Fixed when the order is placed; main unit, with the currency's decimals.
    """

    price: float
    fee: float
    total: float
    currency: str


class Attachment(TypedDict):
    """
    A sticker, charm or the like on the item; `wear` from 0 (as new) to 1 (scraped off).
    """

    id: int | None
    name: str
    wear: float | None
    type: str | None
    image: str | None


class AttemptEntry(TypedDict):
    """
    One attempt; of the receiver's response only the status is stored.
    """

    at: str
    """
    RFC 3339, UTC
    """
    outcome: Literal["delivered", "rejected", "timeout", "unreachable", "refused"]
    """
    `delivered`: 2xx; `rejected`: any other status; `timeout`; `unreachable`: no address, connection, TLS or HTTP; `refused`: an address that nothing is sent to
    """
    statusCode: int | None
    milliseconds: int


class Attribution(TypedDict):
    """
    Where the buyer came from.
    """

    utm_source: NotRequired[str | None]
    utm_medium: NotRequired[str | None]


class BacklogsEntry(TypedDict):
    """
    What waits in the store.
    """

    indexSyncPending: int
    """
    sold or released items that the index does not show yet
    """
    indexSyncSeconds: float
    """
    how long the oldest has waited
    """
    callbacksOverdue: int
    """
    callbacks due and not delivered, without waiting retries
    """
    callbacksOverdueSeconds: float
    """
    for how long the oldest is due
    """
    callbacksFailed: int
    """
    callbacks of real orders that were given up
    """
    activeOrders: int
    """
    real orders that are `created` or `processing`
    """


Bucket = TypedDict(
    "Bucket",
    {
        "from": float,
        "to": float,
        "count": int,
    },
)


class DeliveryEntry(TypedDict):
    """
    One callback and its newest 100 attempts, oldest first.
    """

    n: int
    """
    counts from 1 within the order
    """
    event: str
    """
    the callback's `type`
    """
    state: Literal["pending", "delivered", "failed"]
    attempts: list[AttemptEntry]
    nextAttemptAt: str | None
    """
    null where it has ended, and where it waits for the callback before it
    """


class DeliveryResponse(TypedDict):
    """
    One callback.
    """

    status: Literal["success"]
    delivery: DeliveryEntry


class Details(TypedDict):
    """
    What the item is, in the words of its platform.
    """

    type: str | None
    weapon: str | None
    set: str | None
    quality: str | None
    rarity: str | None
    exterior: str | None
    phase: str | None
    tournament: str | None
    color: str | None


class EngineHealth(TypedDict):
    """
    The health of the engine's cluster.
    """

    status: str
    """
    `green`, `yellow` or `red`, as the engine says it
    """
    nodes: int
    unassignedShards: int


class ErrorDetail(TypedDict):
    """
    What is wrong with one field.
    """

    field: str
    """
    dotted path, such as `filters.weapon.3`
    """
    message: str


class ErrorEntry(TypedDict):
    """
    One row of the error table.
    """

    code: str
    status: int
    message: str


class FilterEntry(TypedDict):
    """
    One filter with its limits, those that its kind has; `facet` where it can be counted by.
    """

    name: str
    kind: Literal["values", "names", "integers", "range", "attachments"]
    facet: bool
    maxValues: NotRequired[int | None]
    maxCharacters: NotRequired[int | None]
    minimum: NotRequired[float | None]
    maximum: NotRequired[float | None]


class FulfilmentResponse(TypedDict):
    """
    What fulfilment needs to hand the item over; null is what the order was placed without.
    """

    status: Literal["success"]
    account: str
    email: str
    platformId: str | None
    tradeLink: str | None
    code: str | None
    attribution: Attribution | None


class GenerationEntry(TypedDict):
    """
    A generation of a platform: its index of listings, without the products beside it.
    """

    index: str
    createdAt: str
    """
    when its load began; RFC 3339
    """
    fingerprint: str
    """
    of its definition
    """
    serving: bool
    items: int
    bytes: int


class Healthy(TypedDict):
    """
    The success of a health check.
    """

    status: Literal["success"]


class Histogram(TypedDict):
    """
    The least and the largest value and the buckets between, in order; null and none where no item has a value.
    """

    min: float | None
    """
    the least value that an item has
    """
    max: float | None
    """
    the largest value that an item has
    """
    buckets: list[Bucket]
    """
    in order, from fixed edges; together all items that have a value
    """


class HistoryEntry(TypedDict):
    """
    One change of state.
    """

    state: Literal["created", "processing", "delivered", "completed", "failed", "cancelled", "reverted"]
    at: str
    """
    RFC 3339, UTC
    """
    reason: str | None


class Offers(TypedDict):
    """
    All items of a name that the search finds: how many, and what their prices and floats span.
    """

    count: int
    """
    how many items
    """
    priceMin: float | None
    """
    null where none has a price
    """
    priceMax: float | None
    """
    null where none has a price
    """
    floatMin: float | None
    """
    null where none has a float
    """
    floatMax: float | None
    """
    null where none has a float
    """


class OrderEntry(TypedDict):
    """
    An order as its client sees it.
    """

    id: str
    state: Literal["created", "processing", "delivered", "completed", "failed", "cancelled", "reverted"]
    platform: str
    """
    slug
    """
    item: str
    account: str
    """
    the client's own reference; empty once the personal data were erased
    """
    code: str | None
    fee: Literal["excluded", "included"]
    amounts: AmountsResponse
    createdAt: str
    """
    RFC 3339, UTC
    """
    updatedAt: str
    """
    RFC 3339, UTC
    """
    statusUrl: str
    """
    the order's page for the buyer, without a token
    """


class OrderResponse(TypedDict):
    """
    The placed order.
    """

    status: Literal["success"]
    order: OrderEntry


class OrderWithHistory(TypedDict):
    """
    An order with its history.
    """

    id: str
    state: Literal["created", "processing", "delivered", "completed", "failed", "cancelled", "reverted"]
    platform: str
    """
    slug
    """
    item: str
    account: str
    """
    the client's own reference; empty once the personal data were erased
    """
    code: str | None
    fee: Literal["excluded", "included"]
    amounts: AmountsResponse
    createdAt: str
    """
    RFC 3339, UTC
    """
    updatedAt: str
    """
    RFC 3339, UTC
    """
    statusUrl: str
    """
    the order's page for the buyer, without a token
    """
    history: list[HistoryEntry]


class OrderWithHistoryResponse(TypedDict):
    """
    One order with its history.
    """

    status: Literal["success"]
    order: OrderWithHistory


class OrdersResponse(TypedDict):
    """
    A page of orders, newest first.
    """

    status: Literal["success"]
    orders: list[OrderEntry]
    nextCursor: str | None
    """
    continues the list; null at its end
    """


class Paint(TypedDict):
    """
    How the item's finish was applied: `float` from 0 (as new) to 1, passed through unrounded.
    """

    float: float | None
    seed: int | None
    index: int | None
    pattern: int | None


class PlatformEntry(TypedDict):
    """
    A platform; `indexedAt` is null and `items` 0 until its catalogue has been loaded.
    """

    id: int
    slug: str
    name: str
    currency: str
    items: int
    indexedAt: str | None
    filters: list[FilterEntry]


class PlatformsResponse(TypedDict):
    """
    Everything that a client can look up instead of hard-coding it.
    """

    status: Literal["success"]
    platforms: list[PlatformEntry]
    sorts: list[str]
    limits: dict[str, int | str | None]
    errors: list[ErrorEntry]


class PriceRow(TypedDict):
    """
    A name on offer: how many items have it, and what their prices and floats span.
    """

    count: int
    """
    how many items
    """
    priceMin: float | None
    """
    null where none has a price
    """
    priceMax: float | None
    """
    null where none has a price
    """
    floatMin: float | None
    """
    null where none has a float
    """
    floatMax: float | None
    """
    null where none has a float
    """
    name: str
    priceMedian: float | None
    """
    the price in the middle, the lower of two; null where none has a price
    """


class PricesResponse(TypedDict):
    """
    Every name on offer.
    """

    status: Literal["success"]
    prices: list[PriceRow]
    """
    in an order that stays the same
    """


class ReadTerm(TypedDict):
    """
    A part of the text with what it means.
    """

    typed: str
    """
    as it was typed
    """
    means: list[dict[str, Any]]
    """
    what it means, each as `filters` of a request would say it: any of these; none: it is a mere word
    """
    begins: NotRequired[list[str] | None]
    """
    words of items may begin with one of these; only for a word that may be unfinished
    """


class Ready(TypedDict):
    """
    What the process can do.
    """

    status: Literal["success"]
    search: bool
    orders: bool


class RefusedEntry(TypedDict):
    """
    An item that was refused; the others of the request are written all the same.
    """

    line: int
    """
    of the body, from 1; that on which the item begins
    """
    id: int | None
    field: str | None
    """
    dotted path; null: the item as a whole
    """
    reason: str
    """
    the rule that it breaks, and any others with their fields behind it
    """


class RejectReason(TypedDict):
    """
    A rule that items broke.
    """

    reason: str
    """
    field and rule
    """
    count: int


class Relaxed(TypedDict):
    """
    What was typed, and what it was taken for because nothing was found otherwise.
    """

    typed: str
    to: str
    """
    for people
    """


class RemovedResponse(TypedDict):
    """
    The id of the entry that was removed.
    """

    status: Literal["success"]
    removed: str


class RemovedSearchResponse(TypedDict):
    """
    A saved search that is gone.
    """

    status: Literal["success"]
    removed: str
    """
    its id
    """


class RuleEntry(TypedDict):
    """
    Texts of searches, and names of items.
    """

    texts: list[str]
    names: list[str]


class SavedSearchEntry(TypedDict):
    """
    A saved search.
    """

    id: str
    name: str
    platform: int | None
    query: str
    filters: dict[str, Any] | None
    """
    as they were sent
    """
    callbackUrl: str
    createdAt: str
    """
    RFC 3339, UTC
    """
    gapAt: str | None
    """
    when changes were last not told: a lost log, too many waiting callbacks or a fault; read all again
    """


class SavedSearchResponse(TypedDict):
    """
    One saved search.
    """

    status: Literal["success"]
    search: SavedSearchEntry


class SavedSearchesResponse(TypedDict):
    """
    A page of saved searches, newest first.
    """

    status: Literal["success"]
    searches: list[SavedSearchEntry]
    nextCursor: str | None
    """
    send it as `cursor` for the next page; null at the end
    """


class SearchHit(TypedDict):
    """
    An item on offer; with `groupBy` the cheapest of its name, and `offers`.
    """

    id: int
    """
    unique within a platform
    """
    name: str
    price: float | None
    """
    in the platform's currency, main unit, at most two decimals
    """
    image: str | None
    inspectLink: str | None
    description: str | None
    details: Details
    paint: Paint
    attachments: list[Attachment]
    offers: NotRequired[Offers | None]
    """
    only with `groupBy`
    """


class SuggestionEntry(TypedDict):
    """
    A text to search for; `sticker` is one that is on an item.
    """

    text: str
    kind: Literal["item", "weapon", "finish", "set", "sticker"]
    count: int
    """
    how many items on offer have it, exactly
    """


class TermEntry(TypedDict):
    """
    Spellings of something, and what they stand for.
    """

    spellings: list[str]
    words: str
    filters: dict[str, list[str]]


class Trial(TypedDict):
    """
    How many items a text finds, and the names of the first.
    """

    total: int
    names: list[str]


class UnansweredEntry(TypedDict):
    """
    A text of searches without results.
    """

    platform: int
    """
    numeric id
    """
    text: str
    """
    folded: without case and accents
    """
    reading: str
    """
    `none`: nothing was found; else the relaxation that found something
    """
    count: int
    """
    how many searches
    """
    firstDay: str
    """
    a date, UTC
    """
    lastDay: str
    """
    a date, UTC
    """


class UnansweredResponse(TypedDict):
    """
    The texts, the most frequent first.
    """

    status: Literal["success"]
    searches: list[UnansweredEntry]


class ValueCount(TypedDict):
    """
    A value and how many items have it.
    """

    value: str
    """
    as items spell it; where they have blanks side by side, with single ones and without `★` and `™`; to be sent in `filters` as it is
    """
    count: int
    """
    the `total` of the same search with this value alone for the field; spellings that a filter takes for one (`StatTrak™`, `★ StatTrak™`) each have the count of all of them: not to be added up
    """


class VocabularyEntry(TypedDict):
    """
    A term, a pin or a hide; the others are null. All are where a newer version added it.
    """

    id: str
    platform: int
    """
    numeric id
    """
    term: TermEntry | None
    pin: RuleEntry | None
    hide: RuleEntry | None
    author: str | None
    """
    the name of the token, or the user of the command, that added it
    """
    createdAt: str
    """
    RFC 3339
    """
    removedAt: str | None
    """
    RFC 3339; null while it applies
    """


class VocabularyEntryResponse(TypedDict):
    """
    One entry.
    """

    status: Literal["success"]
    entry: VocabularyEntry


class VocabularyResponse(TypedDict):
    """
    The entries, those added first before.
    """

    status: Literal["success"]
    entries: list[VocabularyEntry]


class VocabularyTestResponse(TypedDict):
    """
    What the text finds as it is, and with the entry.
    """

    status: Literal["success"]
    before: Trial
    after: Trial


class WorkEntry(TypedDict):
    """
    The command that holds the lock of a platform.
    """

    command: str
    """
    such as `load`
    """
    host: str
    index: str | None
    """
    the index that it fills
    """
    since: str
    """
    RFC 3339, by the command's clock
    """
    heartbeat: str
    """
    when it was last heard of; RFC 3339, by the command's clock
    """
    read: int | None
    """
    records read up to its checkpoint; null where there is none
    """
    indexed: int | None
    """
    items acknowledged up to its checkpoint
    """


class AdditionalFields(TypedDict):
    """
    The buyer's account on the platform, checked by the platform's rules.
    """

    platformId: NotRequired[str | None]
    """
    the buyer's id on the platform (cs2: SteamID64)
    """
    tradeLink: NotRequired[str | None]
    """
    where the item is sent to (cs2: a trade link with `partner` and `token`)
    """


class AttachmentCondition(TypedDict):
    """
    What one and the same attachment is like, and how many of that name there are at least.
    """

    name: str
    """
    the whole name; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    minWear: NotRequired[float | None]
    """
    at least so worn, inclusive; one without wear fulfils no such bound
    """
    maxWear: NotRequired[float | None]
    """
    at most so worn, inclusive; with `count`: so many no more worn than this
    """
    count: NotRequired[int | None]
    """
    at least so many of that name; 1 where absent; not together with `minWear`
    """


class CountRange(TypedDict):
    """
    Inclusive bounds of the number of all attachments of an item.
    """

    min: NotRequired[int | None]
    """
    at least this much, inclusive
    """
    max: NotRequired[int | None]
    """
    at most this much, inclusive; not less than `min`
    """


class DeleteBody(TypedDict):
    """
    `DELETE /v1/catalogue/{platform}/items`: null for a field means absent.
    """

    ids: list[int]
    """
    the items that are gone
    """
    changedAt: NotRequired[str | None]
    """
    RFC 3339: when they went, by the source's clock; at most 5 seconds ahead of ours; absent: now
    """


class FloatRange(TypedDict):
    """
    Inclusive bounds of `paint.float`, 0 to 1.
    """

    min: NotRequired[float | None]
    """
    at least this much, inclusive
    """
    max: NotRequired[float | None]
    """
    at most this much, inclusive; not less than `min`
    """


class HideFields(TypedDict):
    """
    Items with one of the names are found by none of the texts; without texts by no search.
    """

    texts: NotRequired[list[str] | None]
    """
    whole texts of searches; none: every search, and suggestions of names
    """
    names: list[str]
    """
    names of items, byte for byte
    """


class OrderBody(TypedDict):
    """
    `POST /v1/gear`: null for a field means absent.
    """

    account: str
    """
    the client's own reference
    """
    email: str
    """
    the buyer's address
    """
    platform: str
    """
    slug of a platform, or its id in decimal
    """
    additionalFields: NotRequired[AdditionalFields | None]
    code: NotRequired[str | None]
    """
    returned unchanged
    """
    fee: NotRequired[Literal["excluded", "included"] | None]
    """
    `excluded`: the fee comes on top of the price; `included`: it is inside it
    """
    attribution: NotRequired[Attribution | None]
    successUrl: NotRequired[str | None]
    """
    where the order's page sends the buyer once it is `completed`; an absolute https URL of a public host
    """
    failureUrl: NotRequired[str | None]
    """
    where the order's page sends the buyer once it is `failed`, `cancelled` or `reverted`; an absolute https URL of a public host
    """
    callbackUrl: NotRequired[str | None]
    """
    receives a callback at every change; an absolute https URL of a public host
    """
    item: str
    """
    the id of the item as a string
    """
    expectedPrice: NotRequired[float | None]
    """
    409 `price_changed` where the item's price is another one
    """
    expectedTotal: NotRequired[float | None]
    """
    409 `price_changed` where price and fee make another total
    """
    maxPrice: NotRequired[float | None]
    """
    409 `price_changed` where the item's price is higher; not together with the expected
    """


class PinFields(TypedDict):
    """
    Items with one of the names come first for the texts, under the sort `relevance`; they are found by any sort.
    """

    texts: list[str]
    """
    whole texts of searches; case, accents, blanks and signs do not matter
    """
    names: list[str]
    """
    names of items, byte for byte; the first comes first
    """


class PriceRange(TypedDict):
    """
    Inclusive bounds in the platform's currency, main unit; compared exactly at any number of decimals.
    """

    min: NotRequired[float | None]
    """
    at least this much, inclusive
    """
    max: NotRequired[float | None]
    """
    at most this much, inclusive; not less than `min`
    """


class TermFilters(TypedDict):
    """
    Values of fields, as `filters` of a search has them: any value of a field, and all of the fields.
    """

    type: NotRequired[list[str] | None]
    weapon: NotRequired[list[str] | None]
    set: NotRequired[list[str] | None]
    quality: NotRequired[list[str] | None]
    rarity: NotRequired[list[str] | None]
    exterior: NotRequired[list[str] | None]
    phase: NotRequired[list[str] | None]
    tournament: NotRequired[list[str] | None]
    color: NotRequired[list[str] | None]


class TransitionBody(TypedDict):
    """
    `POST /v1/orders/{id}/transitions`: null for a field means absent.
    """

    to: Literal["created", "processing", "delivered", "completed", "failed", "cancelled", "reverted"]
    """
    the state to go to
    """
    reason: NotRequired[str | None]
    """
    why, for the order's history; nothing personal
    """


class CatalogueResponse(TypedDict):
    """
    What became of the items: each was written, superseded or refused.
    """

    status: Literal["success"]
    written: int
    """
    changes that hold now, those that held before among them
    """
    superseded: int
    """
    changes for which a later one of the same item is known: they change nothing
    """
    refused: list[RefusedEntry]


class CheapestResponse(TypedDict):
    """
    The placed orders, the cheapest item first.
    """

    status: Literal["success"]
    orders: list[OrderEntry]


class DeliveriesResponse(TypedDict):
    """
    The callbacks of one order, oldest first.
    """

    status: Literal["success"]
    deliveries: list[DeliveryEntry]


class ErrorBody(TypedDict):
    """
    The error: `code` is the stable part, `message` is for people.
    """

    code: Literal[
        "bad_request",
        "invalid_json",
        "unauthorized",
        "forbidden",
        "not_found",
        "item_not_found",
        "order_not_found",
        "delivery_not_found",
        "search_not_found",
        "method_not_allowed",
        "item_unavailable",
        "price_changed",
        "not_enough",
        "invalid_transition",
        "too_many_searches",
        "cursor_expired",
        "bookmark_expired",
        "personal_data_erased",
        "body_too_large",
        "uri_too_long",
        "unsupported_media_type",
        "validation_failed",
        "unknown_platform",
        "page_window_exceeded",
        "idempotency_key_reused",
        "rate_limited",
        "too_many_orders",
        "internal",
        "overloaded",
        "search_unavailable",
        "store_unavailable",
    ]
    message: str
    details: list[ErrorDetail]
    requestId: str
    """
    equals the header X-Request-Id
    """
    price: NotRequired[float | None]
    """
    only with `price_changed`: the current price
    """
    available: NotRequired[int | None]
    """
    only with `not_enough`: how many items can be ordered at the price
    """


class ErrorResponse(TypedDict):
    """
    The one shape of every error.
    """

    status: Literal["error"]
    error: ErrorBody


class Facets(TypedDict):
    """
    The facets that were asked for; the filter of a field narrows all counts but those of the field itself, so its other values show what choosing them would find.
    """

    price: NotRequired[Histogram]
    weapon: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    type: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    rarity: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    exterior: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    quality: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    phase: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    set: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    tournament: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    color: NotRequired[list[ValueCount]]
    """
    the 500 values that most items have, most first, then by value; a selected one is listed in any case, with 0 if so; items without a value are not counted
    """
    float: NotRequired[Histogram]


class GearItem(TypedDict):
    """
    One single item on offer, as responses show it.
    """

    id: int
    """
    unique within a platform
    """
    name: str
    price: float | None
    """
    in the platform's currency, main unit, at most two decimals
    """
    image: str | None
    inspectLink: str | None
    description: str | None
    details: Details
    paint: Paint
    attachments: list[Attachment]


class IntakeEntry(TypedDict):
    """
    A load or a follower by what it last wrote down; its times are by its own clock.
    """

    command: str
    """
    `load` or `follow`
    """
    source: str
    """
    what it reads: files, `stdin`, or a topic
    """
    host: str
    since: str
    """
    RFC 3339
    """
    heartbeat: str
    """
    when it was last heard of; RFC 3339. A follower writes every 5 seconds
    """
    ended: bool
    """
    whether it said that it ends; false where it was killed
    """
    read: int
    rejected: int
    lag: int | None
    """
    messages that a follower has not read yet; null where that is not known
    """
    ageSeconds: float | None
    """
    from the oldest change of a follower's last batch to its acknowledgement
    """
    reasons: list[RejectReason]
    """
    why items were refused: the 20 most frequent, the first one most
    """


class Interpretation(TypedDict):
    """
    How the text was parsed: an item matches every term by its typed words or by one of its meanings.
    """

    platform: int
    """
    numeric id of the platform whose vocabulary this is
    """
    reading: Literal[
        "strict",
        "numbers",
        "words",
        "sets",
        "names",
        "fillers",
        "either",
        "letters",
        "stickers",
        "seeds",
        "prefixes",
        "typos",
        "all_typos",
        "first_letters",
        "similar_names",
        "partial",
    ]
    """
    the relaxation applied to page, `total`, facets and groups; `strict` unless that finds nothing
    """
    words: list[str]
    """
    the mere words, which an item must have
    """
    filters: dict[str, Any]
    """
    all that the text means, as `filters` of a request would say it
    """
    terms: list[ReadTerm]
    """
    prices, floats and seeds are the last
    """
    excluded: list[ReadTerm]
    """
    what is not wanted: no hit has one of these by words or by meaning
    """
    sort: (
        Literal["relevance", "price_asc", "price_desc", "float_asc", "float_desc", "name_asc", "name_desc", "newest"]
        | None
    )
    """
    the order that the text asks for; it applies where the body has no `sort`
    """
    ignored: NotRequired[list[str] | None]
    """
    only with the reading `partial`: words that were left out, because nothing has them
    """
    pinned: NotRequired[list[str] | None]
    """
    only where operators have pinned names to the text: they are found too, and first by relevance
    """
    relaxed: list[Relaxed]
    """
    what is read more loosely than it was typed; empty where nothing is
    """
    others: NotRequired[list[Interpretation] | None]
    """
    the same for the other platforms or the other items of the text, where there are several
    """


class ItemResponse(TypedDict):
    """
    One item; `available` says whether it can be ordered now.
    """

    status: Literal["success"]
    gear: GearItem
    available: bool


class PlatformState(TypedDict):
    """
    What serves a platform, and who is at work on it.
    """

    id: int
    slug: str
    generations: list[GenerationEntry]
    """
    the newest first
    """
    work: WorkEntry | None
    """
    null where nobody is at work
    """
    intakes: list[IntakeEntry]
    """
    the last load, and followers that were heard of within 7 days; the last heard of first
    """


class SearchResponse(TypedDict):
    """
    One page of hits and the exact number of all; `facets` and `interpretation` only for who asked.
    """

    status: Literal["success"]
    gear: list[SearchHit]
    """
    the hits of this page, in the order of `sort`
    """
    total: int
    """
    exactly how many hits there are; with `groupBy` how many names
    """
    nextCursor: NotRequired[str | None]
    """
    only with `cursor`: continues it for 5 minutes from now; null where all hits have been given
    """
    facets: NotRequired[Facets]
    """
    only with `facets`
    """
    interpretation: NotRequired[Interpretation | None]
    """
    only with `explain`
    """


class SuggestResponse(TypedDict):
    """
    The best suggestions first.
    """

    status: Literal["success"]
    suggestions: list[SuggestionEntry]


class AttachmentFilter(TypedDict):
    """
    All of `all`, one of `any`, and so many attachments; what is absent, null or `[]` does not narrow.
    """

    all: NotRequired[list[AttachmentCondition] | None]
    """
    the item has an attachment like each of these
    """
    any: NotRequired[list[AttachmentCondition] | None]
    """
    the item has an attachment like at least one of these; `[]`: no filter
    """
    count: NotRequired[CountRange | None]


class Filters(TypedDict):
    """
    An item must meet every field, by any one of its values. Absent, null and `[]` mean no filter; a value that no item has finds nothing.
    """

    price: NotRequired[PriceRange | None]
    name: NotRequired[list[str] | None]
    """
    any of these, whole and byte for byte, as `name` of an item or a suggestion says it
    """
    weapon: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    type: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    rarity: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    exterior: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    quality: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count: `StatTrak` and `StatTrak™` find `★ StatTrak™` too, and the other way round; `★` alone is compared as it is
    """
    phase: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    set: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    tournament: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    color: NotRequired[list[str] | None]
    """
    any of these; compared whole, but case, accents, ★, ™ and outer or double blanks do not count
    """
    float: NotRequired[FloatRange | None]
    seed: NotRequired[list[int] | None]
    """
    any of these `paint.seed`
    """
    paintIndex: NotRequired[list[int] | None]
    """
    any of these `paint.index`
    """
    pattern: NotRequired[list[int] | None]
    """
    any of these `paint.pattern`
    """
    ids: NotRequired[list[int] | None]
    """
    any of these `id`
    """
    attachments: NotRequired[AttachmentFilter | None]


class SavedSearchBody(TypedDict):
    """
    `POST /v1/searches`: null for a field means absent.
    """

    platform: NotRequired[int | None]
    """
    numeric id of a platform; all platforms where absent
    """
    query: NotRequired[str | None]
    """
    words that an item must have or mean, as in a search; nothing is read more loosely than it was typed, and words of order change nothing
    """
    filters: NotRequired[Filters | None]
    name: str
    """
    the client's own name for it, which callbacks have
    """
    callbackUrl: str
    """
    receives what comes to match; an absolute https URL of a public host
    """


class SearchBody(TypedDict):
    """
    `POST /v1/gear/search`: null for a field means absent.
    """

    platform: NotRequired[int | None]
    """
    numeric id of a platform; all platforms where absent
    """
    query: NotRequired[str | None]
    """
    what a buyer types: words, slang, codes, prices, floats, seeds, in any order; blank: everything
    """
    filters: NotRequired[Filters | None]
    limit: NotRequired[int | None]
    """
    hits a page
    """
    page: NotRequired[int | None]
    """
    counts from 1; page × limit is at most 10,000; to read beyond, use a `cursor`
    """
    sort: NotRequired[
        Literal["relevance", "price_asc", "price_desc", "float_asc", "float_desc", "name_asc", "name_desc", "newest"]
        | None
    ]
    """
    absent: `relevance` with a query, else `price_asc`; ties by id ascending; items without the value last; names are compared without case, accents, ★ and ™
    """
    cursor: NotRequired[str | None]
    """
    `*` starts reading all hits; the same body with the response's `nextCursor` here continues it, until that is null: only `limit` may differ on the way; not together with `page`; with `groupBy` it leads to the last name, each with its offers at the time of the page
    """
    facets: NotRequired[
        list[
            Literal[
                "price",
                "weapon",
                "type",
                "rarity",
                "exterior",
                "quality",
                "phase",
                "set",
                "tournament",
                "color",
                "float",
            ]
        ]
        | None
    ]
    """
    fields whose values are counted over all hits; adds `facets` to the response; a field's own filter does not narrow its own counts, all other filters do
    """
    groupBy: NotRequired[Literal["name"] | None]
    """
    one hit a name: its cheapest item, with `offers`; `sort` orders these hits, `total` counts names, `facets` go on counting items
    """
    explain: NotRequired[bool | None]
    """
    adds `interpretation`: how the query text was understood
    """


class TermFields(TypedDict):
    """
    Spellings of something, and what they stand for: words of names, values of fields, or both.
    """

    spellings: list[str]
    """
    what buyers write; each has a letter or a digit
    """
    words: NotRequired[str | None]
    """
    the words of names that the spellings stand for
    """
    filters: NotRequired[TermFilters | None]
    """
    the values that the spellings stand for
    """


class VocabularyBody(TypedDict):
    """
    `POST /v1/vocabulary`: exactly one of `term`, `pin` and `hide`.
    """

    platform: NotRequired[int | None]
    """
    numeric id of the platform; may be left out while there is only one
    """
    term: NotRequired[TermFields | None]
    pin: NotRequired[PinFields | None]
    hide: NotRequired[HideFields | None]


class VocabularyTestBody(TypedDict):
    """
    `POST /v1/vocabulary/test`: an entry as `POST /v1/vocabulary` takes it, and a text to search for.
    """

    platform: NotRequired[int | None]
    """
    numeric id of the platform; may be left out while there is only one
    """
    term: NotRequired[TermFields | None]
    pin: NotRequired[PinFields | None]
    hide: NotRequired[HideFields | None]
    query: str
    """
    the text to search for, before and after
    """


class ChangeEntry(TypedDict):
    """
    A change of what the query and the filters find.
    """

    id: int
    platform: NotRequired[int | None]
    """
    only where several platforms are asked for
    """
    change: Literal["listed", "changed", "gone"]
    at: str
    """
    when it was recorded (RFC 3339), within two seconds of the change
    """
    gear: NotRequired[GearItem | None]
    """
    the item after the change; not with `gone`
    """


class ChangesResponse(TypedDict):
    """
    Changes, the oldest first.
    """

    status: Literal["success"]
    changes: list[ChangeEntry]
    next: str
    """
    send it as `since` to read on; opaque
    """
    more: bool
    """
    whether there are more already
    """


class OperationsResponse(TypedDict):
    """
    The state of the service; what does not answer is null.
    """

    status: Literal["success"]
    search: bool
    """
    whether searches work, as `/health/ready` says
    """
    orders: bool
    """
    whether new orders work
    """
    engine: EngineHealth | None
    """
    null where the engine does not answer
    """
    platforms: list[PlatformState] | None
    """
    null where the engine does not answer
    """
    backlogs: BacklogsEntry | None
    """
    null where the store does not answer
    """


class ChangesBody(TypedDict):
    """
    `POST /v1/gear/changes`: null for a field means absent.
    """

    platform: NotRequired[int | None]
    """
    numeric id of a platform; all platforms where absent
    """
    query: NotRequired[str | None]
    """
    words that an item must have or mean, as in a search; nothing is read more loosely than it was typed, and words of order change nothing
    """
    filters: NotRequired[Filters | None]
    since: NotRequired[str | None]
    """
    `next` of the response before; absent: from now on
    """
    limit: NotRequired[int | None]
    """
    changes a page
    """
    wait: NotRequired[int | None]
    """
    seconds to wait for the first change; not for a stream, which always waits
    """


class CheapestSearch(TypedDict):
    """
    Which items will do, as `POST /v1/gear/search` takes it.
    """

    query: NotRequired[str | None]
    """
    words that an item must have or mean; nothing is read more loosely than it was typed
    """
    filters: NotRequired[Filters | None]


class CheapestBody(TypedDict):
    """
    `POST /v1/gear/cheapest`: null for a field means absent.
    """

    account: str
    """
    the client's own reference
    """
    email: str
    """
    the buyer's address
    """
    platform: str
    """
    slug of a platform, or its id in decimal
    """
    additionalFields: NotRequired[AdditionalFields | None]
    code: NotRequired[str | None]
    """
    returned unchanged
    """
    fee: NotRequired[Literal["excluded", "included"] | None]
    """
    `excluded`: the fee comes on top of the price; `included`: it is inside it
    """
    attribution: NotRequired[Attribution | None]
    successUrl: NotRequired[str | None]
    """
    where the order's page sends the buyer once it is `completed`; an absolute https URL of a public host
    """
    failureUrl: NotRequired[str | None]
    """
    where the order's page sends the buyer once it is `failed`, `cancelled` or `reverted`; an absolute https URL of a public host
    """
    callbackUrl: NotRequired[str | None]
    """
    receives a callback at every change; an absolute https URL of a public host
    """
    search: CheapestSearch
    """
    what to look for
    """
    maxPrice: float
    """
    no item costs more
    """
    count: NotRequired[int | None]
    """
    how many items: all of them are ordered, or none
    """
