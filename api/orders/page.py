"""The order's page: its HTML for the buyer, in a language that the browser wants, and the headers that protect it."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, cast

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from api.http.pages import POLICY_HEADER, policy, script_source, source_of
from mappings.money import from_minor
from mappings.platforms import Platform
from store.records import Order
from store.states import ENDED, State

REFRESH_SECONDS: Final = 5
STYLES: Final = ("theme.css", "order.css")
ENGLISH: Final = "en"
MAX_HEADER: Final = 1000  # characters that are read
# A language that is written in two ways, by what says which: a script or a region.
_WRITTEN: Final = {"zh": {"hant": "hant", "tw": "hant", "hk": "hant", "mo": "hant"}}
_USUALLY: Final = {"zh": "hans"}

# What an order goes through where nothing goes wrong.
STEPS: Final[tuple[State, ...]] = ("created", "processing", "delivered", "completed")
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
    return _Page(environment.get_template("order.html"), script_source(page), "".join(styles))


def headers(order: Order) -> dict[str, str]:
    """The headers that keep the page private, beside those of all responses: it runs nothing foreign, is not framed or
    indexed, sends no referrer and loads nothing but the order's own image.
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
        "X-Robots-Tag": "noindex",
    }


def _image_host(image: str | None) -> str | None:
    """The image's origin as a policy names it; None for an image that is not shown."""
    match = re.match(r"https://[A-Za-z0-9.-]+(?::\d+)?(?=/|$)", image or "")
    return match[0] if match else None


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """The page's words in every language that it has, by their codes; `name` is the language's own."""
    folder = files("api") / "templates" / "order_words"
    return {
        file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
    }


def language_of(wanted: str | None, accepted: str) -> str:
    """The language that is wanted, else the browser's, else English."""
    return wanted if wanted is not None and wanted in words() else preferred(accepted, words())


def preferred(header: str, codes: Collection[str]) -> str:
    """The first language of an `Accept-Language` header that there is, else English."""
    code_of = {_written(code): code for code in codes}
    return next((code_of[wish] for wish in _wishes(header) if wish in code_of), ENGLISH)


def _wishes(header: str) -> Iterator[tuple[str, str | None]]:
    weighed = []
    for part in header[:MAX_HEADER].split(","):
        tag, _, parameter = part.partition(";")
        name, _, weight = parameter.strip().partition("=")
        try:
            weighed.append((float(weight) if name.strip() == "q" else 1.0, tag.strip()))
        except ValueError:
            continue
    return (_written(tag) for weight, tag in sorted(weighed, key=lambda each: -each[0]) if weight > 0)


def _written(code: str) -> tuple[str, str | None]:
    """A language and, where it has several, its script."""
    language, *rest = code.lower().split("-")
    scripts = _WRITTEN.get(language, {})
    return language, next((scripts[part] for part in rest if part in scripts), _USUALLY.get(language))


def steps_of(state: State, language: str) -> list[Step]:
    """The steps that are behind and ahead of this state; one that ended badly comes after the last that was surely
    reached, and nothing follows it.
    """
    text = words()[language]
    reached = STEPS.index(_AFTER.get(state, state))
    steps = [
        Step(text["step_created" if name == "created" else name], "done" if at <= reached else "", name == state)
        for at, name in enumerate(STEPS)
    ]
    return steps if state in STEPS else [*steps[: reached + 1], Step(text[state], "bad", True)]


def version_of(content: str) -> str:
    """The page's entity tag, which changes with anything that the buyer sees."""
    return f'"{hashlib.sha256(content.encode()).hexdigest()[:32]}"'


def next_url(order: Order) -> str | None:
    """Where the buyer is redirected, if the client gave an address for this state."""
    if order.state == "completed":
        return order.success_url
    return None if order.active else order.failure_url


def render(order: Order, platform: Platform, language: str = ENGLISH) -> str:
    """The page, which renews itself until the order has ended, with or without scripts."""
    digits = platform.minor_digits
    text = words()[language]
    updated_at = order.updated_at.strftime("%Y-%m-%d %H:%M UTC")
    return _page().template.render(
        style=_page().style,
        language=language,
        languages={code: each["name"] for code, each in words().items()},
        text=text,
        headline=text[order.state],
        meaning=text[f"{order.state}_text"],
        state=order.state,
        steps=steps_of(cast(State, order.state), language),
        name=order.item_name,
        image=order.item_image if _image_host(order.item_image) else None,
        platform=platform.name,
        price=f"{from_minor(order.price_minor, digits)} {order.currency}",
        fee=f"{from_minor(order.fee_minor, digits)} {order.currency}",
        fee_name=text["fee_included" if order.fee_mode == "included" else "fee"],
        total=f"{from_minor(order.total_minor, digits)} {order.currency}",
        reference=text["order"].format(order=order.id, at=updated_at),
        refresh=None if order.state in ENDED else REFRESH_SECONDS,
    )
