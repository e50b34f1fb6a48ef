"""The page's HTML, its files, and the headers that protect it."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, Template

from api.http.pages import POLICY_HEADER, policy, source_of

STATIC_PATH: Final = "/explore/static"
OPERATIONS: Final = "operations/"
PANELS: Final = "panels/"
SEARCH: Final = "search/"

# by the names under which they import each other
_VENDOR: Final = {name: f"vendor/{name.split('/')[-1]}.module.js" for name in ("preact", "preact/hooks", "htm")}
_SHARED: Final = ("ui.js", "api.js", "words.js", "messages.js", f"{OPERATIONS}words.js", *_VENDOR.values())

MEDIA_TYPES: Final = {"js": "text/javascript", "css": "text/css", "json": "application/json", "svg": "image/svg+xml"}
_THEME: Final = files("api") / "templates" / "theme.css"  # the buyer's page has it too


@dataclass(frozen=True)
class Asset:
    content: bytes
    compressed: bytes
    media_type: str


@dataclass(frozen=True)
class Assets:
    """All files by their path, and the digest that stands in their addresses: a change of one file changes it."""

    by_path: dict[str, Asset]
    digest: str


@cache
def assets() -> Assets:
    """Reads and compresses the files."""
    root = Path(__file__).parent / "static"
    by_path = (
        {"theme.css": _asset(_THEME)}
        | {
            file.relative_to(root).as_posix(): _asset(file)
            for file in sorted(root.rglob("*.*"), key=lambda file: (len(file.parts), file))  # shared styles come first
            if file.suffix[1:] in MEDIA_TYPES
        }
    )
    digest = hashlib.sha256()
    for path, asset in by_path.items():
        digest.update(path.encode() + b"\0" + hashlib.sha256(asset.content).digest())
    return Assets(by_path, digest.hexdigest()[:16])


def _asset(file: Traversable) -> Asset:
    content = file.read_bytes()
    return Asset(content, gzip.compress(content, mtime=0), MEDIA_TYPES[file.name.rpartition(".")[2]])


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string((files("api.explore") / "page.html").read_text(encoding="utf-8"))


@cache
def _import_map() -> str:
    static = f"{STATIC_PATH}/{assets().digest}"
    return json.dumps({"imports": {name: f"{static}/{path}" for name, path in _VENDOR.items()}})


@cache
def headers() -> dict[str, str]:
    """The headers of the page: it runs and shows our files alone but for pictures of items, and is not framed.

    `require-trusted-types-for` makes every way from a text to markup throw: names of items are hostile.
    """
    directives = {
        "default-src": "'none'",
        "script-src": f"'self' {source_of(_import_map())}",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' https:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return {
        POLICY_HEADER: policy(directives),
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def render(config: Mapping[str, Any]) -> str:
    """The page of searches with what its scripts need to know."""
    script, later = f"{SEARCH}main.js", (PANELS, OPERATIONS)
    modules = [path for path in assets().by_path if path.endswith(".js") and not path.startswith(later)]
    # named in the page, so that the browser asks for all that the first view needs at once
    return _render("Explore gear", script, [path for path in modules if path != script], config)


def render_operations(config: Mapping[str, Any]) -> str:
    return _render("Operations", f"{OPERATIONS}operations.js", _SHARED, config, OPERATIONS)


def _render(title: str, script: str, modules: Sequence[str], config: Mapping[str, Any], styles: str = "") -> str:
    """A page; `styles` is the folder of its own styles beside those of all pages."""
    sheets = [path for path in assets().by_path if path.endswith(".css")]
    return _template().render(
        title=title,
        static=f"{STATIC_PATH}/{assets().digest}",
        script=script,
        modules=modules,
        styles=[path for path in sheets if "/" not in path or (styles and path.startswith(styles))],
        import_map=_import_map(),
        # `<` could end the element that it stands in
        config=json.dumps(config).replace("<", "\\u003c"),
    )
