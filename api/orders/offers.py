"""Offers, items as they can be ordered now or the error that says why they cannot, and the orders that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from api.engine.responses import StoredItem
from api.errors import ApiError, Detail
from api.log import log
from api.orders.placing.additional_fields import broken_rules
from api.orders.placing.idempotency import Call
from api.orders.placing.integrity import integrity_problem, is_too_old
from api.orders.placing.money import amounts_of
from api.orders.sandbox.scenario import Scenario, scenario_of
from api.orders.schemas import AdditionalFields, Attribution, OrderBody, OrderFields
from api.orders.services import OrderServices
from api.settings import Settings
from api.webhooks.addresses import url_problem
from mappings.money import ceil_minor, from_minor, json_number
from mappings.platforms import Platform
from store.auth.tokens import Token
from store.connection.engine import Store
from store.connection.errors import QuotaExceeded
from store.outbox import index_outbox
from store.records import NewOrder

QUOTA_RETRY_SECONDS: Final = 60
"""There is room again when an order is delivered or ends, which nobody can foretell."""


@dataclass(frozen=True)
class Offer:
    """An item that can be ordered now: its platform, its id, its price in minor units, its name and its image."""

    platform: Platform
    item: int
    price: int
    name: str
    image: str | None


async def real_offer(services: OrderServices, platform: Platform, item: int) -> Offer:
    """The item as the engine has it; raises ApiError where it does not exist, has no price, is not what was loaded, or
    was loaded too long ago.
    """
    stored = await services.engine.item(platform, item)
    if stored is None:
        raise item_not_found(platform, str(item))
    return await _offer_of(services, platform, item, stored)


async def real_offers(
    services: OrderServices, platform: Platform, items: Sequence[int]
) -> tuple[list[Offer], ApiError | None]:
    """Those of the items that can be ordered, in their order, and the error where some were loaded too long ago."""
    stored = await services.engine.items(platform, items)
    offers, too_old = list[Offer](), None
    for item, stored_item in stored.items():
        try:
            offers.append(await _offer_of(services, platform, item, stored_item))
        except ApiError as refusal:
            if refusal.code == "search_unavailable":
                too_old = refusal
            elif refusal.code != "item_unavailable":
                raise
    return offers, too_old


async def _offer_of(services: OrderServices, platform: Platform, item: int, stored: StoredItem) -> Offer:
    settings = services.settings
    problem = integrity_problem(stored, platform.id, platform.minor_digits, settings.derived_digest_key)
    if problem is not None:
        services.metrics.count_refused_item(problem)
        log.error(
            "an item in the index is not what was loaded, so it cannot be ordered: load the catalogue again",
            platform=platform.id,
            item=item,
            differs=problem,
            price=stored.price,
            shown=stored.item.get("price"),
        )
        raise ApiError("item_unavailable", f"item {item} cannot be ordered until the catalogue is loaded again")
    if stored.price is None:
        raise ApiError("item_unavailable", f"item {item} has no price")
    if stored.bound and not await _is_accounted_for(services.store, platform, item):
        services.metrics.count_refused_item("unknown")
        log.error(
            "the index binds an item for an order that the database does not have: gear-api reconcile",
            platform=platform.id,
            item=item,
        )
        raise ApiError("item_unavailable", f"item {item} is bound")
    max_age = settings.order_max_index_age
    if max_age is not None and is_too_old(stored.loaded_at, stored.version, datetime.now(UTC), max_age):
        services.metrics.count_refused_item("age")
        raise ApiError("search_unavailable", "the catalogue is too old for orders: it must be loaded again")
    return Offer(platform, item, stored.price, stored.item["name"], stored.item.get("image"))


async def _is_accounted_for(store: Store, platform: Platform, item: int) -> bool:
    """Whether the database knows why the index binds the item. One restored from a backup may not."""
    async with store.reading() as connection:
        return item in await index_outbox.may_be_bound_among(connection, platform.id, [item], datetime.now(UTC))


def sandbox_offer(platform: Platform, item: int, fields: AdditionalFields | None) -> tuple[Offer, Scenario]:
    """The item as the sandbox has it and the scenario of its order; touches neither the engine nor a real item."""
    scenario = scenario_of(str(item), None if fields is None else fields.trade_link)
    if scenario is None:
        raise item_not_in_sandbox(str(item))
    if scenario.refused is not None:
        raise ApiError(scenario.refused, f"the sandbox refuses item {item}: it {scenario.meaning}")
    price = ceil_minor(scenario.price, platform.minor_digits)  # where the currency has no decimals, -41 costs 11
    return Offer(platform, item, price, f"Sandbox item {item}", None), scenario


def item_not_found(platform: Platform, item: str) -> ApiError:
    return ApiError("item_not_found", f"platform {platform.id} has no item {item[:40]!r}")


def item_not_in_sandbox(item: str) -> ApiError:
    message = f"the sandbox has no item {item[:40]!r}; docs/sandbox.md lists those it has, of up to 16 digits"
    return ApiError("item_not_found", message)


def check_price(body: OrderBody, offer: Offer, total: int) -> None:
    """Raises ApiError `price_changed` where the client expects another price or total, or a lower price."""
    digits = offer.platform.minor_digits
    price = from_minor(offer.price, digits)
    extra = {"price": json_number(offer.price, digits)}
    if body.expected_price not in (None, price) or (body.max_price is not None and price > body.max_price):
        raise ApiError("price_changed", f"the price of item {offer.item} is {price} now", extra=extra)
    if body.expected_total not in (None, from_minor(total, digits)):
        message = f"the total for item {offer.item} is {from_minor(total, digits)} now"
        raise ApiError("price_changed", message, extra=extra)


def check_fields(settings: Settings, body: OrderFields, platform: Platform) -> None:
    """Raises ApiError `validation_failed` for fields that break a rule of the platform or of addresses."""
    additional = body.additional_fields or AdditionalFields()
    details = broken_rules(platform.order, additional.platform_id, additional.trade_link)
    urls = {"successUrl": body.success_url, "failureUrl": body.failure_url, "callbackUrl": body.callback_url}
    for field, url in urls.items():
        problem = url is not None and url_problem(url, allow_insecure=settings.allow_insecure_callbacks)
        if problem:
            details.append(Detail(field, problem))
    if details:
        raise ApiError("validation_failed", f"{details[0].field}: {details[0].message}", details)


def too_many_orders(error: QuotaExceeded) -> ApiError:
    """The 429 of a token or an account."""
    headers = {"Retry-After": str(QUOTA_RETRY_SECONDS)}
    message = f"this {error.scope} has {error.limit} orders that are created or processing: deliver or cancel some"
    return ApiError("too_many_orders", message, headers=headers)


def new_order(settings: Settings, token: Token, body: OrderFields, offer: Offer, call: Call) -> NewOrder:
    amounts = amounts_of(offer.price, settings.fee_rate, body.fee)
    additional = body.additional_fields or AdditionalFields()
    attribution = body.attribution or Attribution()
    return NewOrder(
        token_id=token.id,
        platform=offer.platform.id,
        item=offer.item,
        item_name=offer.name,
        item_image=offer.image,
        account=body.account,
        email=body.email,
        platform_user_id=additional.platform_id,
        trade_link=additional.trade_link,
        code=body.code,
        fee_mode=body.fee,
        currency=offer.platform.currency,
        price_minor=amounts.price,
        fee_minor=amounts.fee,
        total_minor=amounts.total,
        utm_source=attribution.utm_source,
        utm_medium=attribution.utm_medium,
        success_url=body.success_url,
        failure_url=body.failure_url,
        callback_url=body.callback_url,
        sandbox=token.sandbox,
        body_digest=call.body_digest,
    )
