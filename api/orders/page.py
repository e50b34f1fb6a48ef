"""The order's page: its HTML for the buyer and the headers that protect it."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from api.http.pages import POLICY_HEADER, digest, policy, source_of
from mappings.money import from_minor
from mappings.platforms import Platform
from store.records import Order
from store.states import ENDED, State

REFRESH_SECONDS: Final = 5
STYLES: Final = ("theme.css", "order.css")

# state: (headline, what it means for the buyer)
TEXTS: Final[dict[State, tuple[str, str]]] = {
    "created": ("Order received", "The order has been placed and the item is reserved for you."),
    "processing": ("In progress", "The item is being prepared for you."),
    "delivered": ("Delivered", "The item has been sent. The platform can still take the trade back for some days."),
    "completed": ("Completed", "The item is yours."),
    "failed": ("Failed", "The order could not be fulfilled."),
    "cancelled": ("Cancelled", "The order has been cancelled."),
    "reverted": ("Reverted", "The trade has been taken back."),
}

# What an order goes through where nothing goes wrong, and what each step is called.
STEPS: Final[dict[State, str]] = {
    "created": "Received",
    "processing": "In progress",
    "delivered": "Delivered",
    "completed": "Completed",
}
_AFTER: Final[dict[State, State]] = {"failed": "created", "cancelled": "created", "reverted": "delivered"}


@dataclass(frozen=True)
class Step:
    """One step of the progress: its name, `done`, `bad` or empty where it is ahead, and whether it is the last one."""

    text: str
    kind: str
    current: bool


@dataclass(frozen=True)
class _Page:
    """The template, the digest of its one script, and its style."""

    template: Template
    script: str
    style: str


@cache
def _page() -> _Page:
    environment = Environment(
        loader=PackageLoader("api"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page, *styles = (PackageLoader("api").get_source(environment, name)[0] for name in ("order.html", *STYLES))
    return _Page(environment.get_template("order.html"), digest("script", page), "".join(styles))


def headers(order: Order) -> dict[str, str]:
    """The headers that keep the page private: it runs nothing foreign, is not framed, cached or indexed, sends no
    referrer and loads nothing but the order's own image.
    """
    directives = {
        "default-src": "'none'",
        "connect-src": "'self'",
        "img-src": _image_host(order.item_image) or "'none'",
        "script-src": _page().script,
        "style-src": source_of(_page().style),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        POLICY_HEADER: policy(directives),
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }


def _image_host(image: str | None) -> str | None:
    """The image's origin as a policy names it; None for an image that is not shown."""
    match = re.match(r"https://[A-Za-z0-9.-]+(?::\d+)?(?=/|$)", image or "")
    return match[0] if match else None


def steps_of(state: State) -> list[Step]:
    """The steps that are behind and ahead of this state; one that ended badly comes after the last that was surely
    reached, and nothing follows it.
    """
    reached = list(STEPS).index(_AFTER.get(state, state))
    steps = [
        Step(text, "done" if at <= reached else "", name == state) for at, (name, text) in enumerate(STEPS.items())
    ]
    return steps if state in STEPS else [*steps[: reached + 1], Step(TEXTS[state][0], "bad", True)]


def version_of(content: str) -> str:
    """The page's entity tag, which changes with anything that the buyer sees."""
    return f'"{hashlib.sha256(content.encode()).hexdigest()[:32]}"'


def next_url(order: Order) -> str | None:
    """Where the buyer is redirected, if the client gave an address for this state."""
    if order.state == "completed":
        return order.success_url
    return None if order.active else order.failure_url


def render(order: Order, platform: Platform) -> str:
    """The page, which renews itself until the order has ended, with or without scripts."""
    digits = platform.minor_digits
    headline, meaning = TEXTS[cast(State, order.state)]
    return _page().template.render(
        style=_page().style,
        headline=headline,
        meaning=meaning,
        state=order.state,
        steps=steps_of(cast(State, order.state)),
        name=order.item_name,
        image=order.item_image if _image_host(order.item_image) else None,
        platform=platform.name,
        price=f"{from_minor(order.price_minor, digits)} {order.currency}",
        fee=f"{from_minor(order.fee_minor, digits)} {order.currency}",
        fee_mode=order.fee_mode,
        total=f"{from_minor(order.total_minor, digits)} {order.currency}",
        updated_at=order.updated_at.strftime("%Y-%m-%d %H:%M UTC"),
        refresh=None if order.state in ENDED else REFRESH_SECONDS,
        reference=order.id,
    )
