"""Any text is just text: sixty words, emoji, quotes, slashes, wildcards, the engine's own syntax are searched for."""

from typing import Any

import httpx
import pytest

from tests.support.load import serving_items

ITEMS: list[dict[str, Any]] = [{"id": 1, "name": "AK-47 | Redline (Field-Tested)", "price": 30}]
TEXTS = (
    " ".join(f"{number:x}" for number in range(160, 220)),  # sixty words
    "a " * 100,
    "st " * 66,
    "ak ft m4 kato 14 " * 11,
    "\U0001f525" * 200,
    "'\"`\\/" * 40,
    "* ? redl* ?edline ~2 ^5 \\* {!lucene} [* TO *]",
    'name:redline AND price:[0 TO 1] OR NOT _exists_:id && || ! ( ) "redline"~2',
    "*" * 200,
    "{" * 200,
    "0.1 " * 50,
    "#1,2 under 5 " * 15,
    "<" * 200,
)


@pytest.fixture(scope="module")
def client(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A client of the app with one item."""
    with serving_items(opensearch_url, ITEMS, tmp_path_factory.mktemp("any")) as (served, _):
        yield served


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_a_search_for_it_finds_nothing_and_is_no_error(client: httpx.Client, text: str) -> None:
    response = client.post("/v1/gear/search", json={"query": text, "explain": True})
    assert (response.status_code, response.json()["total"]) == (200, 0), response.text


@pytest.mark.parametrize("amount", ["100,000,000,000,000,000", "100,000,000,000,000,000,000,000"])
@pytest.mark.parametrize(("bound", "end", "total"), [("at least", "min", 0), ("at most", "max", 1)])
@pytest.mark.parametrize("words", ["", "redline "])
def test_an_amount_beyond_every_price_is_one(
    client: httpx.Client, amount: str, bound: str, end: str, total: int, words: str
) -> None:
    text = f"{words}{bound} {amount}"
    response = client.post("/v1/gear/search", json={"query": text, "explain": True})
    assert response.status_code == 200, response.text
    assert response.json()["total"] == total
    assert response.json()["interpretation"]["filters"] == {"price": {end: float(amount.replace(",", ""))}}
    assert client.post("/v1/gear/search", json={"query": text}).json()["total"] == total
    assert client.post("/v1/gear/search", json={"query": text, "sort": "price_desc"}).json()["total"] == total
    assert client.get("/v1/gear/suggest", params={"q": text}).status_code == 200


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_it_suggests_nothing_and_is_no_error(client: httpx.Client, text: str) -> None:
    response = client.get("/v1/gear/suggest", params={"q": text[:100]})
    assert (response.status_code, response.json()["suggestions"]) == (200, []), response.text
