"""What buyers type finds what they mean in the whole real catalogue, one listing of each of its rows."""

import json
import random
import re
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from urllib3.connectionpool import connection_from_url

from bench.relevance.judged import ALL_SETS, GROUPS, IN_ROLE, OWN_WORDS, PUBLISHED, SETS, Judgment, Verdict, judge, read
from bench.relevance.listings import listings_for
from bench.relevance.score import OVERALL, by_group, misses
from mappings.vocabulary.misspellings import TWO_TYPOS
from tests.support.examples import examples
from tests.support.load import serving_items

ROOT = Path(__file__).parents[4]
ROWS = 35_911  # of the catalogue: a sample of so many has one listing of each
AT_ONCE = 4
# What docs/relevance.md promises of the judged texts.
SUCCESS_AT_5, SUCCESS_AT_1, OF_A_GROUP, BROKEN = 0.99, 0.96, 0.9, 0.005
IN_OWN_WORDS, BROKEN_IN_OWN_WORDS = 0.95, 0.02
PARTLY_MENDED = dict.fromkeys(("in_role/07", "in_role/09", "in_role/10"), (0.95, 0.035)) | {
    "in_role/08": (0.89, 0.12),
    "in_role/22": (0.95, 0.035),
    "in_role/24": (0.94, 0.04),
    "in_role/23": (0.93, 0.1),  # pasted receipts, rows and chats
    "in_role/25": (0.94, 0.05),
    "in_role/33": (0.95, 0.035),  # exchanges, dictation, rows of lists
    "in_role/34": (0.95, 0.035),
    "in_role/35": (0.95, 0.045),
    "in_role/26": (0.91, 0.08),  # ages, dates and ranks
    "in_role/27": (0.95, 0.03),
    "in_role/41": (0.95, 0.04),  # exchanges
    "published/07": (0.95, 0.03),
    "published/07_held_out": (0.93, 0.05),
    "published/08": (0.95, 0.05),
    "published/08_held_out": (0.92, 0.06),  # several items in a line
    "published/09": (0.96, 0.03),
    "published/10": (0.96, 0.04),
    "published/11": (0.96, 0.04),
    "published/11_held_out": (0.95, 0.045),
    "published/13": (0.88, 0.14),  # rows of ledgers, commands and logs
    "published/14": (0.93, 0.08),  # prose
    "published/15": (0.95, 0.05),
    "published/16": (0.87, 0.12),  # amounts before names
    "published/17": (0.92, 0.03),  # charms by their translated names
    "published/18": (0.95, 0.05),  # amounts in reais
    "published/19": (0.94, 0.05),  # prose
}
JUDGMENTS = {name: read(file) for name, file in ALL_SETS.items()}
CASES = json.loads((ROOT / "tests" / "scenarios" / "catalogue" / "texts.json").read_text(encoding="utf-8"))
SAMPLED_NAMES = examples(100, 300)
MISTYPED, MISTYPED_FOUND = 100, 0.9
PAGE = " ".join((ROOT / "docs" / "text.md").read_text(encoding="utf-8").split())
# Each with its reading, and of which every hit's name has one.
OF_THE_PAGE = [
    ("asiimov -awp", "strict", [f"{weapon} | Asiimov" for weapon in ("M4A4", "AK-47", "P250", "P90")]),
    ("no stattrak", "strict", [""]),
    ("without stickers", "strict", [""]),
    ("glock/usp fade", "strict", ["Glock-18 | ", "USP-S | "]),
    ("ak + awp asiimov", "strict", ["AK-47 | Asiimov", "AWP | Asiimov"]),
    ("cheapest karambit", "strict", ["Karambit"]),
    ("karambit/talon/gloves", "either", ["Karambit", "Talon", "Gloves", "Wraps"]),
    ("knives, gloves, zeus", "either", ["★", "Zeus x27"]),
    ("ak redline, awp asiimov", "either", ["AK-47 | Redline", "AWP | Asiimov"]),
    ("neon rider mac10 or disco tech", "either", ["MAC-10 | Neon Rider", "MAC-10 | Disco Tech"]),
    ("usp orion ak vulcan mw", "either", ["USP-S | Orion", "AK-47 | Vulcan (Minimal Wear)"]),
    ("ak with 4 stickers", "stickers", ["AK-47 | "]),
    ("glove case", "words", ["Glove Case"]),
    ("x-ray p250 package", "words", ["X-Ray P250 Package"]),
    ("st swap tool", "names", ["StatTrak™ Swap Tool"]),
    ("nice ak redline skin", "fillers", ["AK-47 | Redline"]),
    ("dragn lore", "typos", ["Dragon Lore"]),
    ("hyper blast", "all_typos", ["Hyper Beast"]),
    ("five-seven violet dynamo", "similar_names", ["Five-SeveN | Violent Daimyo"]),
    ("glock su elemanteli", "similar_names", ["Glock-18 | Water Elemental"]),
]

Item = dict[str, Any]


@pytest.fixture(scope="module")
def listings() -> list[Item]:
    """One listing of each row, and what the judged texts ask for besides."""
    return listings_for(ROWS, [judgment for judgments in JUDGMENTS.values() for judgment in judgments])


@pytest.fixture(scope="module")
def client(
    listings: list[Item], opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """The app that searches them."""
    with serving_items(opensearch_url, listings, tmp_path_factory.mktemp("catalogue")) as (served, _):
        yield served


def hits_of(client: httpx.Client, text: str, limit: int = 100) -> tuple[list[Item], int]:
    """The first hits and the total."""
    response = client.post("/v1/gear/search", json={"query": text, "limit": limit})
    assert response.status_code == 200, response.text
    body = response.json()
    return body["gear"], body["total"]


def fits(item: Item, wanted: dict[str, Any]) -> bool:
    """Whether an item has all that every hit of a text must have."""
    numbers = {"price": item["price"], "float": item["paint"]["float"]}
    for key, value in wanted.items():
        if key.endswith("Min") or key.endswith("Max"):
            number = numbers[key[:-3]]
            if number is None or (number < value if key.endswith("Min") else number > value):
                return False
        elif value not in (item["name"] if key == "name" else item["details"][key] or ""):
            return False
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_a_text_finds_what_a_buyer_means(client: httpx.Client, case: dict[str, Any]) -> None:
    gear, total = hits_of(client, case["text"])
    if "total" in case:
        assert total == case["total"]
        return
    assert gear
    assert case.get("first", "") in gear[0]["name"]
    assert case.get("phase") in (None, gear[0]["details"]["phase"])
    assert [item["name"] for item in gear if not fits(item, case.get("every", {}))] == []


@pytest.mark.parametrize(("text", "reading", "names"), OF_THE_PAGE)
def test_the_examples_of_the_page_are_read_so(client: httpx.Client, text: str, reading: str, names: list[str]) -> None:
    assert f"`{text}`" in PAGE
    response = client.post("/v1/gear/search", json={"query": text, "limit": 100, "explain": True}).json()
    assert response["interpretation"]["reading"] == reading
    assert response["gear"]
    assert [item["name"] for item in response["gear"] if not any(name in item["name"] for name in names)] == []


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("ak redline, awp asiimov", ["ak redline", "awp asiimov"]),
        ("p250 asiimov or usp orion under 500", ["p250 asiimov under 500", "usp orion under 500"]),
        ("usp orion, ak vulcan, m4 howl no stattrak", ["usp orion no st", "ak vulcan no st", "m4 howl no st"]),
    ],
)
def test_of_several_items_all_are_found_the_first_one_first(client: httpx.Client, text: str, items: list[str]) -> None:
    gear, total = hits_of(client, text)
    first, _ = hits_of(client, items[0])
    assert total == sum(hits_of(client, item)[1] for item in items)
    assert {item["id"] for item in gear[: len(first)]} == {item["id"] for item in first}


def test_the_page_names_what_is_suggested(client: httpx.Client) -> None:
    assert "`bfk fad` suggests Butterfly Knives in Fade and in Marble Fade" in PAGE
    suggestions = client.get("/v1/gear/suggest", params={"q": "bfk fad"}).json()["suggestions"]
    finishes = {
        re.sub(r".* \| | \(.*", "", suggestion["text"])
        for suggestion in suggestions
        if "Butterfly Knife" in suggestion["text"]
    }
    assert finishes == {"Fade", "Marble Fade"}
    assert all("Butterfly Knife" in suggestion["text"] for suggestion in suggestions)


def folded(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name.replace("™", "").replace("★", ""))
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).lower()


def test_every_name_finds_itself_first_however_it_is_typed(client: httpx.Client, listings: list[Item]) -> None:
    names = sorted({item["name"] for item in listings})
    sampled = random.Random(11).sample(names, SAMPLED_NAMES)
    for name in sampled:
        words = re.findall(r"[^\W_]+", folded(name))
        for typed in (name, folded(name).replace("-", ""), " ".join(words)):
            gear, _ = hits_of(client, typed, limit=1)
            assert ["".join(re.findall(r"[^\W_]+", folded(item["name"]))) for item in gear] == ["".join(words)], typed


def mistyped(name: str, chance: random.Random) -> str:
    """A name with two typos, a long one with three: a letter left out, another one, or two neighbours swapped."""
    for _ in range(3 if len(name) > TWO_TYPOS else 2):
        letters = [at for at in range(1, len(name) - 1) if name[at : at + 2].isalpha()]
        at = chance.choice(letters)
        typos = (name[at + 1], chance.choice("aeiourstln") + name[at + 1], name[at + 1] + name[at])
        name = name[:at] + chance.choice(typos) + name[at + 2 :]
    return name


def test_a_finish_with_several_typos_is_found_beside_its_weapon(client: httpx.Client, listings: list[Item]) -> None:
    names = sorted({item["name"].rpartition(" (")[0] for item in listings if item["details"]["exterior"]})
    skins = [name.split(" | ") for name in names if re.fullmatch(r"[\w-]+ \| [A-Z][A-Za-z ]{5,}", name)]
    chance = random.Random(98)
    sampled = chance.sample(skins, MISTYPED)
    pages = [hits_of(client, f"{weapon} {mistyped(finish, chance)}", limit=1)[0] for weapon, finish in sampled]
    right = [
        bool(gear) and f"{weapon} | {finish}" in gear[0]["name"]
        for gear, (weapon, finish) in zip(pages, sampled, strict=True)
    ]
    assert sum(right) >= MISTYPED_FOUND * MISTYPED, [sampled[at] for at, is_right in enumerate(right) if not is_right]


def test_a_price_sort_of_an_exact_word_has_no_similar_words(client: httpx.Client) -> None:
    response = client.post("/v1/gear/search", json={"query": "fade", "sort": "price_asc", "limit": 100}).json()
    assert len(response["gear"]) == 100
    assert all("fade" in item["name"].lower() for item in response["gear"])


def verdicts_of(client: httpx.Client, name: str) -> list[Verdict]:
    """The judged texts of one file, each with the page that it finds.

    The service has the same interpreter, so thousands of texts are sent by a client that takes less of it.
    """
    headers = {"Authorization": client.headers["Authorization"], "Content-Type": "application/json"}

    def verdict(judgment: Judgment) -> Verdict:
        body = orjson.dumps({"query": judgment.query, "limit": 20})
        response = connections.request("POST", "/v1/gear/search", body=body)
        assert response.status == 200, response.data
        return judge(judgment, orjson.loads(response.data)["gear"])

    with (
        connection_from_url(str(client.base_url), maxsize=AT_ONCE, headers=headers, retries=False) as connections,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        return list(pool.map(verdict, JUDGMENTS[name]))


@pytest.fixture(scope="module", params=SETS)
def judged(request: pytest.FixtureRequest, client: httpx.Client) -> list[Verdict]:
    """Those of one of the sets."""
    return verdicts_of(client, request.param)


@pytest.mark.parametrize("name", [*OWN_WORDS, *PUBLISHED, *IN_ROLE])
def test_buyers_are_answered_in_their_own_words(client: httpx.Client, name: str) -> None:
    verdicts = verdicts_of(client, name)
    scores = by_group(verdicts)
    first, broken = PARTLY_MENDED.get(name, (IN_OWN_WORDS, BROKEN_IN_OWN_WORDS))
    assert scores[OVERALL].first >= first, misses(verdicts)
    assert scores[OVERALL].broken <= broken, [verdict.judgment.query for verdict in verdicts if verdict.is_broken]


def test_what_is_meant_is_found_first_or_among_the_first_five(judged: list[Verdict]) -> None:
    scores = by_group(judged)
    assert scores[OVERALL].first >= SUCCESS_AT_1, misses(judged)
    assert scores[OVERALL].five >= SUCCESS_AT_5, misses(judged)


def test_no_group_of_texts_is_answered_worse_than_the_others(judged: list[Verdict]) -> None:
    scores = by_group(judged)
    assert {group: scores[group] for group in GROUPS if scores[group].first < OF_A_GROUP} == {}


def test_every_item_of_the_page_matches_the_filters_that_are_meant(judged: list[Verdict]) -> None:
    assert by_group(judged)[OVERALL].broken <= BROKEN, [
        verdict.judgment.query for verdict in judged if verdict.is_broken
    ]
