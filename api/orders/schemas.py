"""The bodies and responses of orders, with their limits."""

from typing import Annotated, Literal

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, Field

from api.http.fields import MAX_URL_CHARACTERS, Link, NullDefault, Price, Strict, StrictCamelCase, success
from api.orders.placing.money import FeeMode
from api.webhooks.schedule import Outcome
from mappings.items.item import Text
from store.states import State

MAX_ACCOUNT_CHARACTERS = 128
MAX_EMAIL_CHARACTERS = 254
MAX_CODE_CHARACTERS = 64
MAX_ATTRIBUTION_CHARACTERS = 256
MAX_PLATFORM_ID_CHARACTERS = 256
MAX_REASON_CHARACTERS = 256


def _deliverable(value: str) -> str:
    try:
        # `test_environment` accepts the domain .test, which shops write in trial orders; no name is looked up
        validate_email(value, check_deliverability=False, test_environment=True, strict=True)
    except EmailNotValidError as error:
        raise ValueError(f"must be an e-mail address: {error}") from error
    return value


CampaignName = Annotated[Text, Field(max_length=MAX_ATTRIBUTION_CHARACTERS)]

_URL = "an absolute https URL of a public host"


class AdditionalFields(StrictCamelCase):
    """The buyer's account on the platform, checked by the platform's rules."""

    platform_id: Annotated[Text, Field(max_length=MAX_PLATFORM_ID_CHARACTERS)] | None = Field(
        default=None, description="the buyer's id on the platform (cs2: SteamID64)"
    )
    trade_link: Annotated[Text, Field(max_length=MAX_URL_CHARACTERS)] | None = Field(
        default=None, description="where the item is sent to (cs2: a trade link with `partner` and `token`)"
    )


class Attribution(Strict):
    """Where the buyer came from."""

    utm_source: CampaignName | None = None
    utm_medium: CampaignName | None = None


class OrderFields(StrictCamelCase):
    """What a client says of an order, apart from its item."""

    account: Annotated[Text, Field(min_length=1, max_length=MAX_ACCOUNT_CHARACTERS)] = Field(
        description="the client's own reference"
    )
    email: Annotated[
        Text,
        Field(max_length=MAX_EMAIL_CHARACTERS, json_schema_extra={"format": "email"}),
        AfterValidator(_deliverable),
    ] = Field(repr=False, description="the buyer's address")
    platform: Text = Field(description="slug of a platform, or its id in decimal")
    additional_fields: AdditionalFields | None = Field(default=None, repr=False)
    code: Annotated[Text, Field(max_length=MAX_CODE_CHARACTERS)] | None = Field(
        default=None, description="returned unchanged"
    )
    fee: Annotated[FeeMode, NullDefault("excluded")] = Field(
        default="excluded", description="`excluded`: the fee comes on top of the price; `included`: it is inside it"
    )
    attribution: Attribution | None = None
    success_url: Link | None = Field(
        default=None, repr=False, description=f"where the order's page sends the buyer once it is `completed`; {_URL}"
    )
    failure_url: Link | None = Field(
        default=None,
        repr=False,
        description=f"where the order's page sends the buyer once it is `failed`, `cancelled` or `reverted`; {_URL}",
    )
    callback_url: Link | None = Field(
        default=None, repr=False, description=f"receives a callback at every change; {_URL}"
    )


class OrderBody(OrderFields):
    """`POST /v1/gear`: null for a field means absent."""

    item: Text = Field(description="the id of the item as a string")
    expected_price: Price | None = Field(
        default=None, description="409 `price_changed` where the item's price is another one"
    )
    expected_total: Price | None = Field(
        default=None, description="409 `price_changed` where price and fee make another total"
    )
    max_price: Price | None = Field(
        default=None, description="409 `price_changed` where the item's price is higher; not together with the expected"
    )


class TransitionBody(StrictCamelCase):
    """`POST /v1/orders/{id}/transitions`: null for a field means absent."""

    to: State = Field(description="the state to go to")
    reason: Annotated[Text, Field(max_length=MAX_REASON_CHARACTERS)] | None = Field(
        default=None, description="why, for the order's history; nothing personal"
    )


class AmountsResponse(StrictCamelCase):
    """Fixed when the order is placed; main unit, with the currency's decimals."""

    price: float
    fee: float
    total: float
    currency: str


class OrderEntry(StrictCamelCase):
    """An order as its client sees it."""

    id: str
    state: State
    platform: str = Field(description="slug")
    item: str
    account: str = Field(description="the client's own reference; empty once the personal data were erased")
    code: str | None
    fee: FeeMode
    amounts: AmountsResponse
    created_at: str = Field(description="RFC 3339, UTC")
    updated_at: str = Field(description="RFC 3339, UTC")
    status_url: str = Field(description="the order's page for the buyer, without a token")


class HistoryEntry(StrictCamelCase):
    """One change of state."""

    state: State
    at: str = Field(description="RFC 3339, UTC")
    reason: str | None


class OrderWithHistory(OrderEntry):
    """An order with its history."""

    history: list[HistoryEntry]


OrderResponse = success("OrderResponse", "The placed order.", order=OrderEntry)
OrderWithHistoryResponse = success("OrderWithHistoryResponse", "One order with its history.", order=OrderWithHistory)


class OrdersResponse(StrictCamelCase):
    """A page of orders, newest first."""

    status: Literal["success"]
    orders: list[OrderEntry]
    next_cursor: str | None = Field(description="continues the list; null at its end")


class FulfilmentResponse(StrictCamelCase):
    """What fulfilment needs to hand the item over; null is what the order was placed without."""

    status: Literal["success"]
    account: str
    email: str
    platform_id: str | None
    trade_link: str | None
    code: str | None
    attribution: Attribution | None


class AttemptEntry(StrictCamelCase):
    """One attempt; of the receiver's response only the status is stored."""

    at: str = Field(description="RFC 3339, UTC")
    outcome: Outcome = Field(
        description="`delivered`: 2xx; `rejected`: any other status; `timeout`; `unreachable`: no address, connection, "
        "TLS or HTTP; `refused`: an address that nothing is sent to"
    )
    status_code: int | None
    milliseconds: int


class DeliveryEntry(StrictCamelCase):
    """One callback and its newest 100 attempts, oldest first."""

    n: int = Field(description="counts from 1 within the order")
    event: str = Field(description="the callback's `type`")
    state: Literal["pending", "delivered", "failed"]
    attempts: list[AttemptEntry]
    next_attempt_at: str | None = Field(
        description="null where it has ended, and where it waits for the callback before it"
    )


DeliveriesResponse = success(
    "DeliveriesResponse", "The callbacks of one order, oldest first.", deliveries=list[DeliveryEntry]
)
DeliveryResponse = success("DeliveryResponse", "One callback.", delivery=DeliveryEntry)
