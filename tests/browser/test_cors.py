"""A web page of another origin in a real browser: it searches with a token for it, and with no other."""

import secrets
from pathlib import Path

from playwright.async_api import Browser

from mappings.platforms import read_platforms
from tests.support.api.catalogue import ITEMS, put_index
from tests.support.app import new_token, settings_for
from tests.support.browser.opening import opened, served
from tests.support.indices import drop_indices
from tests.support.store.migrated import migrated

SEARCH = """async ([url, token]) => {
    try {
        const answer = await fetch(`${url}/v1/gear/search`, {
            method: "POST",
            headers: {Authorization: `Bearer ${token}`, "Content-Type": "application/json"},
            body: "{}",
        });
        const content = await answer.json();
        return [answer.status, content.total ?? content.error.code, answer.headers.get("RateLimit-Remaining")];
    } catch (error) {
        return [0, error.name, null];
    }
}"""


async def test_a_page_searches_with_a_token_for_its_origin_alone(
    chromium: Browser, opensearch_url: str, tmp_path: Path
) -> None:
    prefix = f"t{secrets.token_hex(5)}"
    settings = settings_for(opensearch_url, prefix, tmp_path, rate_limit="100/day")
    await migrated(settings.database_url)
    (platform,) = read_platforms()
    put_index(settings, platform, ITEMS)
    url = settings.database_url
    try:
        async with served(settings) as base, opened(chromium, "about:blank", []) as page:
            origin = base.replace("127.0.0.1", "localhost")  # another origin, of whatever page
            await page.goto(f"{origin}/health/live")
            own = await new_token(url, "search", origins=[origin], filters='{"ids": [1, 2]}')
            assert await page.evaluate(SEARCH, [base, own]) == [200, 2, "99"]
            foreign = await new_token(url, "search", origins=["https://shop.example"])
            for token in (foreign, await new_token(url, "search"), "gear_unknown"):
                assert await page.evaluate(SEARCH, [base, token]) == [0, "TypeError", None]
    finally:
        drop_indices(opensearch_url, prefix)
