"""`/explore` by HTTP: off unless asked, a key that is worth nothing elsewhere, small files that are ours alone."""

import gzip
import hashlib
import json
import re
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from api.explore.page import assets
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp, new_token, running, settings_for

MAX_BYTES: Final = 100_000
STATIC: Final = Path(str(files("api.explore") / "static"))
TEXTS: Final = ("weapon", "type", "rarity", "exterior", "quality", "phase", "set", "tournament", "color")
FACETS: Final = {"price": "money", **dict.fromkeys(TEXTS, "folded"), "float": "range"}
SITE: Final = ["http://gear.test"]
FIT: Final[dict[str, Any]] = {"scopes": ("search", "order"), "sandbox": True, "origins": SITE, "rate_limit": 50}


@pytest.fixture
async def shown(tmp_path: Path) -> AsyncIterator[RunningApp]:
    """The app with the page on; it needs no engine to be shown."""
    async with running(settings_for("http://127.0.0.1:1", "none", tmp_path, explore=True)) as app:
        yield app


async def config_of(app: RunningApp) -> dict[str, Any]:
    """What the page tells its scripts."""
    page = await app.client.get("/explore", headers={"Authorization": ""})
    assert page.status_code == 200
    match = re.search(r'<script type="application/json" id="config">(.*?)</script>', page.text)
    config: dict[str, Any] = json.loads(match[1]) if match else {}
    return config


async def key_of(app: RunningApp, token: str) -> tuple[str | None, bool]:
    """The key that the page gets where this token is set, and whether it may order."""
    app.settings.explore_token = token
    config = await config_of(app)
    return config["key"], config["orders"]


async def test_the_page_has_the_facets_and_sorts_of_the_table(shown: RunningApp) -> None:
    config = await config_of(shown)
    assert config["facets"] == [{"name": name, "kind": kind} for name, kind in FACETS.items()]
    assert config["sorts"][:3] == ["relevance", "price_asc", "price_desc"]
    assert len(config["sorts"]) == 8


async def test_it_is_off_unless_asked(tmp_path: Path) -> None:
    async with running(settings_for("http://127.0.0.1:1", "none", tmp_path)) as app:
        assert app.settings.explore is False
        for path in ("/explore", f"/explore/static/{assets().digest}/search/main.js"):
            error_of(await app.client.get(path), "not_found")
        assert (await app.client.get("/")).headers["Location"] == "/docs"


async def test_the_services_address_leads_to_the_page(shown: RunningApp) -> None:
    response = await shown.client.get("/")
    assert (response.status_code, response.headers["Location"]) == (307, "/explore")


async def test_a_link_may_have_parameters_that_no_page_knows(shown: RunningApp) -> None:
    mark = "utm_source=news&q=%E2%98%85+ak"
    assert (await shown.client.get(f"/?{mark}")).headers["Location"] == f"/explore?{mark}"
    for path in ("/explore", "/explore/operations"):
        assert (await shown.client.get(f"{path}?{mark}")).status_code == 200
    shown.settings.explore = False
    assert (await shown.client.get(f"/?{mark}")).headers["Location"] == "/docs"


async def test_language_models_find_every_operation(shown: RunningApp) -> None:
    text = (await shown.client.get("/llms.txt", headers={"Authorization": ""})).text
    paths = shown.app.openapi()["paths"]
    named = {(method, path) for method, path in re.findall(r"^- `([A-Z]+) (\S+)`: .+$", text, re.MULTILINE)}
    assert named == {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert "](/openapi.json)" in text


async def test_the_page_runs_and_shows_our_files_alone(shown: RunningApp) -> None:
    page = await shown.client.get("/explore?q=ak&weapon=AK-47&anything=1")
    policy = dict(part.split(" ", 1) for part in page.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == policy["connect-src"] == "'self'"
    assert re.fullmatch(r"'self' 'sha256-[^']+'", policy["script-src"])
    assert (
        policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == policy["trusted-types"] == "'none'"
    )
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert re.findall(r'(?:src|href)="(?!/)[^"]*"', page.text) == []
    assert " style=" not in page.text
    text = "".join(asset.content.decode() for path, asset in assets().by_path.items() if "vendor" not in path)
    addresses = set(re.findall(r"https?://[\w.]+", text))
    assert addresses <= {"https://shop.example.com", "http://www.w3.org"}


async def test_files_are_sent_compressed_and_cached_for_ever(shown: RunningApp) -> None:
    page = (await shown.client.get("/explore")).text
    named = re.findall(r'(?:src|href)="(/explore/static/[^"]+)"', page)
    assert len(named) > 15
    for path in named:
        response = await shown.client.get(path)
        assert (response.status_code, response.headers["Content-Encoding"]) == (200, "gzip")
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["Content-Type"].split(";")[0] in ("text/javascript", "text/css", "image/svg+xml")
    theme = next(path for path in named if path.endswith("theme.css"))
    for taken in ("identity", "gzip;q=0", "br, gzip ; q=0.0, identity"):
        plain = await shown.client.get(theme, headers={"Accept-Encoding": taken})
        assert "Content-Encoding" not in plain.headers
        assert plain.text == (STATIC.parent.parent / "templates" / "theme.css").read_text(encoding="utf-8")
    for taken in ("br;q=0, gzip;q=0.5", "GZIP"):
        compressed = await shown.client.get(theme, headers={"Accept-Encoding": taken})
        assert compressed.headers["Content-Encoding"] == "gzip"
    older = await shown.client.get("/explore/static/0123456789abcdef/search/main.js")
    assert (older.status_code, older.headers["Cache-Control"]) == (200, "no-store")
    for path in ("nothing.js", "../page.html", "%2e%2e/key.py", "vendor/preact.LICENSE"):
        error_of(await shown.client.get(f"/explore/static/{assets().digest}/{path}"), "not_found")


async def test_the_page_is_small(shown: RunningApp) -> None:
    """All that its first view needs, as it is sent; also what an item, an order and a language add."""
    page = (await shown.client.get("/explore")).content
    languages = [asset for path, asset in assets().by_path.items() if "languages/" in path]
    rest = [asset for path, asset in assets().by_path.items() if "languages/" not in path]
    sent = len(page) + sum(len(asset.compressed) for asset in rest)
    assert sent + max((len(asset.compressed) for asset in languages), default=0) < MAX_BYTES
    assert all(gzip.decompress(asset.compressed) == asset.content for asset in rest)


async def test_a_key_that_is_worth_nothing_elsewhere_is_in_the_page(shown: RunningApp) -> None:
    url = shown.settings.database_url
    token = await new_token(url, *FIT["scopes"], sandbox=True, origins=SITE, rate_limit=50)
    assert await key_of(shown, token) == (token, True)
    reader = await new_token(url, "search", origins=SITE, rate_limit=50, filters='{"type": ["Rifle"]}')
    assert await key_of(shown, reader) == (reader, False)


@pytest.mark.parametrize(
    "change",
    [
        {"scopes": ("search", "fulfil")},
        {"scopes": ("search", "metrics")},
        {"scopes": ("order",)},
        {"sandbox": False},
        {"origins": []},
        {"rate_limit": None},
    ],
    ids=" ".join,
)
async def test_a_key_with_power_is_never_in_the_page(shown: RunningApp, change: dict[str, Any]) -> None:
    options = {**FIT, **change}
    token = await new_token(shown.settings.database_url, *options.pop("scopes"), **options)
    assert await key_of(shown, token) == (None, False)
    assert token not in (await shown.client.get("/explore")).text


@pytest.mark.parametrize("token", ["", "gear_nobodys"])
async def test_without_a_known_token_the_page_has_no_key(shown: RunningApp, token: str) -> None:
    assert await key_of(shown, token) == (None, False)


def test_the_vendored_library_is_what_was_published() -> None:
    vendor = STATIC / "vendor"
    versions = json.loads((vendor / "versions.json").read_text(encoding="utf-8"))
    assert {file.name for file in vendor.glob("*.js")} == set(versions)
    for name, facts in versions.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == facts["sha256"]
        assert (vendor / f"{facts['package']}.LICENSE").stat().st_size > 500


# Forms of a number of things, as Unicode's plural rules have them; "other" stands in for one that is not here.
SLAVIC: Final = {"one", "few", "many", "other"}
FORMS: Final = dict.fromkeys(("cs", "pl", "ru", "uk"), SLAVIC) | {
    code: {"other"} for code in ("ja", "ko", "zh-Hans", "zh-Hant")
}
# What people write as in English, in some languages at least; short words are the same in several languages.
AS_IN_ENGLISH: Final = {
    *(
        "ak redline ft under 50",
        "Float",
        "Seed",
        "Token",
        "Callbacks",
        "Filter",
        "Sticker",
        "Stickers",
        "Type",
        "Phase",
    ),
    *("Definition", "Index", "Platform", "Text", "Total", "{field}: minimum", "{field}: maximum"),
}
BY_CHANCE: Final = {
    "de": {"Name"},
    "fr": {"Suggestions", "Collection", "Pages"},
    "es": {"Color"},
    "pt-BR": {"Item", "{n} item"},
    "nl": {"Filters", "Items", "{0} nodes", "term"},
    "sv": {"Finish"},
}


PAGES: Final = ("", "operations/")  # folders of pages that have words


def page_words(page: str) -> dict[str, Any]:
    """A page's own words in English."""
    source = (STATIC / page / "words.js").read_text(encoding="utf-8")
    first = "addWords({" if page else "const ENGLISH = {"
    english = source[source.index(first) + len(first) :].partition("\n}")[0]
    text = re.compile(r'(?:^|, |\{)\s*(\w+): (?:"([^"]*)"|\{ one: "([^"]*)", other: "([^"]*)" \})', re.MULTILINE)
    return {
        key: {"one": singular, "other": plural} if plural else words
        for key, words, singular, plural in text.findall(english)
    }


def languages(page: str = "") -> dict[str, dict[str, Any]]:
    """A page's own words in other languages."""
    files_ = (STATIC / page / "languages").glob("*.json")
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files_}


def forms_of(words: Any) -> dict[str, str]:
    """The forms of a text; one that has no number is its own form."""
    return words if isinstance(words, dict) else {"": words}


def test_every_language_of_the_vocabulary_is_offered() -> None:
    source = (STATIC / "words.js").read_text(encoding="utf-8")
    table = source[source.index("export const LANGUAGES") :].partition("};")[0]
    offered = set(re.findall(r'"?\b([a-z]{2}(?:-[A-Z][A-Za-z]+)?)"?: "', table))
    assert offered - {"en"} == set(languages())
    vocabularies = {
        file.stem.partition("-")[0] for file in Path(str(files("mappings") / "platforms" / "730")).glob("*.toml")
    }
    assert {code.partition("-")[0] for code in offered} == vocabularies
    assert {code for code in offered if code.startswith("zh")} == {"zh-Hans", "zh-Hant"}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("code", sorted(languages()))
def test_every_language_has_the_pages_words(code: str, page: str) -> None:
    english, words = page_words(page), languages(page)[code]
    assert len(english) > 70
    assert words.keys() == english.keys()
    places = re.compile(r"\{\w+\}")
    same = set()
    for key, text in words.items():
        wanted = forms_of(english[key])
        assert set(forms_of(text)) == (FORMS.get(code, {"one", "other"}) if len(wanted) > 1 else {""}), key
        for form in forms_of(text).values():
            assert set(places.findall(form)) == set(places.findall(wanted.get("other", wanted.get("", "")))), key
            assert form == form.strip() != "", key
            if form in wanted.values():
                same.add(form)
    assert same <= AS_IN_ENGLISH | BY_CHANCE.get(code, set())
    letters = {"ru": "[а-яё]", "uk": "[а-яіїєґ]", "ja": "[ぁ-ん]|[ァ-ヶ]|[一-龥]", "ko": "[가-힣]"}.get(code[:2])
    if code.startswith("zh"):
        letters = "[一-龥]"
    if letters:
        left = {text for text in words.values() if isinstance(text, str) and not re.search(letters, text.lower())}
        assert left <= AS_IN_ENGLISH
