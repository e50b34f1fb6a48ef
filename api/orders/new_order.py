"""What every order must meet whatever its item is, and the order that a client's fields and an offer make."""

from typing import Final

from api.errors import ApiError, Detail
from api.orders.offers import Offer
from api.orders.placing.additional_fields import broken_rules
from api.orders.placing.idempotency import Call
from api.orders.placing.money import amounts_of
from api.orders.schemas import AdditionalFields, Attribution, OrderFields
from api.settings import Settings
from api.webhooks.addresses import url_problem
from mappings.platforms import Platform
from store.auth.tokens import Token
from store.connection.errors import QuotaExceeded
from store.records import NewOrder

QUOTA_RETRY_SECONDS: Final = 60
"""There is room again when an order is delivered or ends, which nobody can foretell."""


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
