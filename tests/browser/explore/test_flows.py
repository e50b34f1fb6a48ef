"""What people do on `/explore`: search, narrow, look at an item, order in the sandbox, and go back."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Page, expect

from mappings.fields import FACETS, SORTS, Kind
from tests.support.browser.window import HOSTILE, HOSTILE_ID, MARKUP, PHONE, ShopWindow
from tests.support.services.receiver import Receiver, responses

CARDS = "#results .grid .card:not(.skeleton-card)"


def query_of(page: Page) -> dict[str, list[str]]:
    """The page's address, which says all that it shows."""
    return parse_qs(urlsplit(page.url).query)


async def expect_total(page: Page, total: int) -> None:
    """Waits until the page shows this number of items."""
    await expect(page.locator(".total")).to_have_text(re.compile(rf"^{total:,} (item|name)s?$"))


async def first_name(page: Page) -> str:
    """The name of the first card."""
    return str(await page.locator(CARDS).first.get_by_role("link").get_attribute("aria-label"))


async def test_a_text_is_searched_while_it_is_typed_and_shown_as_it_was_understood(window: ShopWindow) -> None:
    async with window.opened() as page:
        await expect_total(page, await window.total())
        box = page.get_by_role("combobox", name="Search the catalogue")
        await page.keyboard.press("/")
        await page.keyboard.type("ak ft", delay=20)
        await expect(box).to_have_value("ak ft")
        await expect_total(page, await window.total(query="ak ft"))
        chips = page.get_by_label("Understood as").get_by_role("listitem")
        await expect(chips.first).to_contain_text("Weapon: AK-47")
        await expect(chips.nth(1)).to_contain_text("Exterior: Field-Tested")
        await page.keyboard.press("Escape")  # the suggestions cover them
        await page.get_by_role("button", name="Remove ft: Exterior: Field-Tested").click()
        await expect(box).to_have_value("ak")
        await expect_total(page, await window.total(query="ak"))
        await page.go_back()
        await expect(box).to_have_value("ak ft")
        await page.go_back()
        await expect(box).to_have_value("")
        await page.goto(f"{window.base}/explore?q=cheapest+ak+-redline")
        await expect(page.get_by_role("button", name="Remove redline: not wanted")).to_be_visible()
        await expect(page.get_by_label("Sort")).to_have_value("")
        await expect(page.get_by_label("Sort").locator("option").first).to_have_text("Price: low to high")
        await page.get_by_role("button", name="Remove redline: not wanted").click()
        await expect(box).to_have_value("cheapest ak")
    assert window.complaints == []


async def test_a_word_that_nothing_has_is_shown_as_left_out(window: ShopWindow) -> None:
    response = await window.search(query="ak xyzzyqwert", explain=True)
    ignored = response["interpretation"]["ignored"]
    async with window.opened("/explore?q=ak+xyzzyqwert") as page:
        await expect_total(page, response["total"])
        assert ignored == ["xyzzyqwert"]
        await page.get_by_role("button", name="Remove xyzzyqwert: left out: nothing has it").click()
        await expect(page.get_by_role("combobox", name="Search the catalogue")).to_have_value("ak")
    assert window.complaints == []


async def test_suggestions_are_chosen_with_keys(window: ShopWindow) -> None:
    async with window.opened() as page:
        box = page.get_by_role("combobox", name="Search the catalogue")
        await box.press_sequentially("redl")
        options = page.locator("#suggestions").get_by_role("option")
        await expect(options.first).to_contain_text("Redline")
        await box.press("ArrowDown")
        active = await box.get_attribute("aria-activedescendant")
        assert active == "suggestion-0"
        await expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
        await box.press("Enter")
        await expect(options).to_have_count(0)
        assert query_of(page)["q"] == ["Redline"]
        await expect_total(page, await window.total(query="Redline"))
        await box.press_sequentially(" x")
        await expect(options.first).to_be_hidden()
    assert window.complaints == []


async def test_filters_narrow_with_live_counts_and_make_an_address(window: ShopWindow) -> None:
    async with window.opened() as page:
        weapon = page.get_by_role("list", name="Weapon", exact=True)
        choice = weapon.get_by_role("checkbox", name=re.compile("^AK-47"))
        await choice.check()
        await expect_total(page, await window.total(filters={"weapon": ["AK-47"]}))
        exterior = page.get_by_role("list", name="Exterior", exact=True)
        counted = (await window.search(filters={"weapon": ["AK-47"]}, facets=["exterior"]))["facets"]["exterior"]
        for entry in counted:
            label = re.compile(rf"^{re.escape(entry['value'])} {entry['count']}$")
            await expect(exterior.get_by_role("checkbox", name=label)).to_be_visible()
        lowest = page.get_by_role("slider", name="Price: minimum")
        for _ in range(3):
            await lowest.press("ArrowRight")
        await expect(page.get_by_role("button", name=re.compile("^Remove Price"))).to_be_visible()
        await expect(page.get_by_label("Price: minimum").and_(page.locator("[type=number]"))).not_to_have_value("")
        least = float(query_of(page)["price"][0].rstrip("-"))
        total = await window.total(filters={"weapon": ["AK-47"], "price": {"min": least}})
        await expect_total(page, total)
        await page.get_by_label("Float: maximum").and_(page.locator("[type=number]")).fill("0.5")
        await page.keyboard.press("Enter")
        narrowed = {"weapon": ["AK-47"], "price": {"min": least}, "float": {"max": 0.5}}
        await expect_total(page, await window.total(filters=narrowed))
        async with window.opened(page.url.removeprefix(window.base)) as shared:
            await expect_total(shared, await window.total(filters=narrowed))
            await expect(shared.get_by_role("checkbox", name=re.compile("^AK-47"))).to_be_checked()
        await page.get_by_role("button", name="Clear all").click()
        await expect_total(page, await window.total())
    assert window.complaints == []


async def test_every_facet_of_the_table_is_there(window: ShopWindow) -> None:
    async with window.opened() as page:
        await expect_total(page, await window.total())
        await expect(page.locator("aside .facet")).to_have_count(len(FACETS))
        await expect(page.locator("aside .facet.range")).to_have_count(
            sum(row.kind is not Kind.FOLDED for row in FACETS)
        )
    assert window.complaints == []


async def test_every_sort_in_both_views_shows_what_the_api_answers(window: ShopWindow) -> None:
    async with window.opened("/explore?q=ak") as page:
        for names in (False, True):
            if names:
                await page.get_by_role("button", name="By name").click()
            for sort in SORTS:
                value = "" if sort.name == "relevance" else sort.name
                await page.get_by_label("Sort").select_option(value)
                body = {"query": "ak", "sort": sort.name, "limit": 1, **({"groupBy": "name"} if names else {})}
                response = await window.search(**body)
                await expect_total(page, response["total"])
                link = page.locator(CARDS).first.get_by_role("link")
                await expect(link).to_have_attribute("aria-label", response["gear"][0]["name"])
    assert window.complaints == []


@pytest.mark.parametrize("names", [False, True], ids=["items", "names"])
async def test_scrolling_reaches_every_hit_once(window: ShopWindow, names: bool) -> None:
    group = {"groupBy": "name"} if names else {}
    total = await window.total(query="ak", **group)
    assert total > 60, "several pages"
    async with window.opened("/explore?q=ak" + ("&view=names" if names else "")) as page:
        await expect_total(page, total)
        cards = page.locator(CARDS)
        shown = 0
        while shown < total:
            await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            await expect(cards).not_to_have_count(shown)
            shown = await cards.count()
        await expect(page.get_by_text("That is all of it.")).to_be_visible()
        assert shown == total
        links = await page.locator(f"{CARDS} a").evaluate_all("all => all.map(one => one.href)")
        assert len(set(links)) == total
    assert window.complaints == []


async def test_an_item_has_a_page_and_going_back_finds_the_results_as_they_were(window: ShopWindow) -> None:
    body = {"query": "ak", "filters": {"attachments": {"count": {"min": 1}}}, "limit": 1}
    (item,) = (await window.search(**body))["gear"]
    async with window.opened("/explore?q=ak") as page:
        await page.locator(CARDS).nth(20).scroll_into_view_if_needed()
        before = await page.evaluate("scrollY")
        assert before > 0
        await page.locator(CARDS).nth(20).get_by_role("link").click()
        await expect(page.locator("#item h1")).to_be_focused()
        await page.go_back()
        await expect(page.locator(CARDS).nth(20)).to_be_in_viewport()
        assert await page.evaluate("scrollY") == before
        await page.goto(f"{window.base}/explore?item={item['id']}")
        shown = page.locator("#item")
        await expect(shown).to_contain_text(str(item["paint"]["float"]))
        await expect(shown).to_contain_text(item["attachments"][0]["name"])
        await expect(shown.get_by_role("link", name="Inspect in the game")).to_have_attribute(
            "href", item["inspectLink"]
        )
        await expect(shown.get_by_role("heading", name="Offers of the same name")).to_be_visible()
        await expect(shown.get_by_role("heading", name="Other versions")).to_be_visible()
        assert await page.title() == f"{item['name']} · Explore gear"
        await page.goto(f"{window.base}/explore?item=999999999")
        await expect(page.get_by_role("alert")).to_contain_text("Request id")
    assert [text for text in window.complaints if "404" not in text] == []


async def test_a_sandbox_order_goes_on_live_with_its_callbacks(window: ShopWindow) -> None:
    (item,) = (await window.search(query="ak redline", limit=1))["gear"]
    with Receiver(responses(200)) as receiver:
        async with window.opened(f"/explore?item={item['id']}") as page:
            await page.get_by_label("How it ends").select_option("Completed")
            await page.get_by_label("Callback address").fill(f"http://127.0.0.1:{receiver.port}/hooks")
            await page.get_by_role("button", name="Place the sandbox order").click()
            await expect(page.locator("#order h1")).to_have_text("Completed")
            for state in ("Created", "Processing", "Delivered", "Completed"):
                await expect(page.locator(".steps li.done", has_text=state)).to_be_visible()
            await expect(page.locator(".delivery-delivered")).to_have_count(4)
            assert {callback.event for callback in receiver.received} == {
                f"order.{state}" for state in ("created", "processing", "delivered", "completed")
            }
            await page.get_by_text("What is sent").first.click()
            preview = json.loads(await page.locator(".deliveries pre").first.inner_text())
            sent = next(
                json.loads(callback.body) for callback in receiver.received if callback.event == "order.created"
            )
            assert preview.keys() == sent.keys()
            assert preview["data"]["order"].keys() == sent["data"]["order"].keys()
            buyers_page = str(await page.get_by_role("link", name="The buyer’s page").get_attribute("href"))
            await page.goto(buyers_page)
            await expect(page.locator("h1")).to_have_text("Completed")
            await page.go_back()
            await expect(page.locator("#order h1")).to_have_text("Completed")
    assert window.complaints == []


async def test_an_order_is_cancelled_and_a_refused_one_says_why(window: ShopWindow) -> None:
    async with window.opened(f"/explore?item={HOSTILE_ID}", **PHONE) as page:
        await page.get_by_label("How it ends").select_option("Costs more than shown: refused")
        await page.get_by_role("button", name="Place the sandbox order").click()
        await expect(page.get_by_role("alert")).to_contain_text("Request id")
        await page.get_by_label("How it ends").select_option("Stays open until you cancel")
        await page.get_by_role("button", name="Place the sandbox order").click()
        await page.get_by_role("button", name="Cancel the order").click()
        await expect(page.locator("#order h1")).to_have_text("Cancelled")
    assert [text for text in window.complaints if "409" not in text] == []


async def test_hostile_listings_are_text(window: ShopWindow) -> None:
    async with window.opened("/explore?q=hostile") as page:
        card = page.locator(CARDS).filter(has_text="onerror")
        await expect(card.get_by_role("link")).to_have_attribute("aria-label", HOSTILE["name"])
        await expect(page.get_by_role("checkbox", name=re.compile("onerror"))).to_be_visible()
        await card.get_by_role("link").click()
        await expect(page.locator("#item h1")).to_contain_text(MARKUP)
        await expect(page.locator("#item")).to_contain_text("{{7*7}}")
        links = await page.evaluate("[...document.querySelectorAll('a')].map(a => a.protocol)")
        assert set(links) <= {"http:"}
        await page.get_by_role("button", name="Show the request").first.click()
        await page.get_by_role("tab", name="Response").click()
        await expect(page.locator("#code")).to_contain_text("window.ran = 1")
        await page.goto(f"{window.base}/explore?q=%3Cscript%3Ewindow.ran=1%3C/script%3E&type={MARKUP}")
        await expect(page.get_by_role("button", name=re.compile("^Remove Type: <img"))).to_be_visible()
        assert await page.evaluate("window.ran === undefined && [].ran === undefined")
        # as if a hole let markup in after all
        with pytest.raises(Exception, match="TrustedHTML"):
            await page.evaluate("document.body.innerHTML = '<img src=x onerror=window.ran=1>'")
    assert [text for text in window.complaints if "TrustedHTML" not in text] == []
