"""The order's page and answer: a buyer sees the state and the amounts, and nothing foreign ever runs there."""

import base64
import hashlib
import re
from dataclasses import replace
from datetime import timedelta, timezone
from importlib.resources import files

import pytest

from api.orders import page
from api.orders.responses import history_entries, order_entry
from mappings.timestamps import rfc3339
from store.records import OrderEvent
from store.states import STATES, State
from tests.support.golden import Golden
from tests.support.orders.samples import AT, ORDER
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


def test_the_page_shows_the_item_its_state_and_its_amounts() -> None:
    html = page.render(ORDER, CS2)
    for text in ("Order received", "★ Karambit | Doppler (Factory New)", "1234.50 USD", "61.73 USD", "1296.23 USD"):
        assert text in html
    assert '<img src="https://images.example.com/karambit.png"' in html
    assert "2026-08-09 05:00 UTC" in html
    for secret in (ORDER.email, ORDER.account, ORDER.status_key, "shop.example.com"):
        assert secret not in html


@pytest.mark.parametrize("state", STATES)
def test_the_page_renews_itself_until_the_end(state: str) -> None:
    html = page.render(replace(ORDER, state=state), CS2)
    ended = state in {"completed", "failed", "cancelled", "reverted"}
    assert ('http-equiv="refresh"' in html) is not ended
    assert f'data-state="{state}"' in html


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("created", ["Received", "", "", ""]),
        ("delivered", ["Received", "In progress", "Delivered", ""]),
        ("completed", ["Received", "In progress", "Delivered", "Completed"]),
        ("failed", ["Received", "Failed"]),
        ("cancelled", ["Received", "Cancelled"]),
        ("reverted", ["Received", "In progress", "Delivered", "Reverted"]),
    ],
)
def test_the_page_shows_how_far_the_order_is(state: State, shown: list[str]) -> None:
    steps = page.steps_of(state, page.ENGLISH)
    assert [step.text if step.kind else "" for step in steps] == shown
    assert [step.text for step in steps if step.current] == [[text for text in shown if text][-1]]
    assert [step.kind == "bad" for step in steps] == [text in ("Failed", "Cancelled", "Reverted") for text in shown]
    html = page.render(replace(ORDER, state=state), CS2)
    assert html.count('<li class="done"') + html.count('<li class="bad"') == len([text for text in shown if text])
    assert html.count('aria-current="step"') == 1


@pytest.mark.parametrize("state", STATES)
def test_the_buyer_is_sent_on_at_the_end(state: str) -> None:
    ends = {"completed": ORDER.success_url, **dict.fromkeys(("failed", "cancelled", "reverted"), ORDER.failure_url)}
    assert page.next_url(replace(ORDER, state=state)) == ends.get(state)
    assert page.next_url(replace(ORDER, state=state, success_url=None, failure_url=None)) is None


@pytest.mark.parametrize("language", page.words())
@pytest.mark.parametrize("state", STATES)
def test_the_page_has_all_its_words_in_every_language(language: str, state: str) -> None:
    words, english = page.words()[language], page.words()["en"]
    assert words.keys() == english.keys()
    for key, text in words.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", english[key]))
        assert text == text.strip() != ""
    same = {text for key, text in words.items() if text == english[key]}
    assert language == "en" or same <= {"Platform", "Total"}
    html = page.render(replace(ORDER, state=state), CS2, language)
    assert f'<html lang="{language}">' in html
    for shown in (words[state], words[f"{state}_text"], words["total"], f"1296.23 {ORDER.currency}"):
        assert shown in html
    for code, each in page.words().items():
        assert f'<a href="?language={code}" lang="{code}" hreflang="{code}"' in html
        assert each["name"] in html


def test_the_page_speaks_the_languages_of_the_shop_window() -> None:
    source = (files("api.explore") / "static" / "words.js").read_text(encoding="utf-8")
    table = source.partition("export const LANGUAGES = {")[2].partition("};")[0]
    offered = dict(re.findall(r'"?([A-Za-z-]+)"?: "([^"]+)"', table))
    assert {code: each["name"] for code, each in page.words().items()} == offered


@pytest.mark.parametrize(
    ("wanted", "accepted", "language"),
    [(None, "", "en"), (None, "uk-UA,uk;q=0.9", "uk"), ("ja", "uk", "ja"), ("xx", "uk", "uk"), ("", "fi", "en")],
)
def test_the_buyer_is_spoken_to_in_their_language(wanted: str | None, accepted: str, language: str) -> None:
    assert page.language_of(wanted, accepted) == language


def test_names_and_pictures_cannot_carry_markup() -> None:
    html = page.render(replace(ORDER, item_name="<script>alert(1)</script>", item_image='https://x/"><b>'), CS2)
    assert "<script>alert" not in html
    assert html.count("<script") == 1
    assert "<b>" not in html
    for image in ("javascript:alert(1)", "http://images.example.com/a.png", None):
        assert "<img" not in page.render(replace(ORDER, item_image=image), CS2)


def test_the_fee_inside_the_price_is_named_so() -> None:
    assert "Fee (in the price)" in page.render(replace(ORDER, fee_mode="included"), CS2)
    assert "Fee (in the price)" not in page.render(ORDER, CS2)


@pytest.mark.parametrize("element", ["style", "script"])
def test_the_policy_lets_the_pages_own_style_and_script_through_and_nothing_else(element: str) -> None:
    html = page.render(ORDER, CS2)
    [text] = re.findall(f"<{element}>(.*?)</{element}>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    policy = page.headers(ORDER)["Content-Security-Policy"].split("; ")
    assert f"{element}-src 'sha256-{digest}'" in policy
    assert {"default-src 'none'", "connect-src 'self'", "form-action 'none'", "frame-ancestors 'none'"} <= set(policy)
    assert "unsafe" not in str(policy)
    assert not re.search(r"style=|\son[a-z]+=|<script [a-z]", html)
    assert 'name="viewport"' in html


@pytest.mark.parametrize(
    ("image", "source"),
    [
        ("https://images.example.com/karambit.png", "https://images.example.com"),
        ("https://images.example.com:8443/a;b.png", "https://images.example.com:8443"),
        ("https://images.example.com; script-src *", "'none'"),
        ("https://user@images.example.com/a.png", "'none'"),
        ("http://images.example.com/a.png", "'none'"),
        (None, "'none'"),
    ],
)
def test_pictures_come_from_the_items_own_host_alone(image: str | None, source: str) -> None:
    order = replace(ORDER, item_image=image)
    assert f"img-src {source}" in page.headers(order)["Content-Security-Policy"].split("; ")
    assert ("<img" in page.render(order, CS2)) is (source != "'none'")


def test_the_version_changes_with_what_the_buyer_sees() -> None:
    now, then = page.render(ORDER, CS2), page.render(replace(ORDER, state="processing"), CS2)
    assert page.version_of(now) == page.version_of(now) != page.version_of(then)
    assert re.fullmatch('"[0-9a-f]{32}"', page.version_of(now))


def test_the_answer_has_exactly_the_fields_of_the_contract(golden: Golden) -> None:
    golden("orders/entry", order_entry(ORDER, shared_platforms(), "https://gear.example.com"))
    events = [
        OrderEvent(order_id="ord_1", n=1, state="created", at=AT, reason=None),
        OrderEvent(order_id="ord_1", n=2, state="failed", at=AT + timedelta(hours=1), reason="no stock"),
    ]
    golden("orders/history", history_entries(events))


def test_times_are_utc_with_milliseconds() -> None:
    assert rfc3339(AT.astimezone(timezone(timedelta(hours=2)))) == "2026-08-09T04:00:00.123Z"
    assert rfc3339(AT.replace(microsecond=0)) == "2026-08-09T04:00:00.000Z"
