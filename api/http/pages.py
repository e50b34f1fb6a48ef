"""Pages: `/openapi.json`, the forms at `/docs`, and the content security policy of every page.

A user types a token into the forms, so the page loads no scripts but ours.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import orjson
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.params import Depends as Dependency
from starlette.responses import HTMLResponse, PlainTextResponse

from api.errors import ApiError
from api.http.dependencies import NoQuery

POLICY_HEADER: Final = "Content-Security-Policy"
DESCRIPTION_PATH: Final = "/openapi.json"
# Swagger UI from a package, which the lock pins by its hash
_SWAGGER_FILES: Final = files("fastapi_offline") / "static"
_MEDIA_TYPES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_CACHE_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}


def policy(directives: Mapping[str, str]) -> str:
    return "; ".join(f"{directive} {source}" for directive, source in directives.items())


def script_source(page: str) -> str:
    """The policy source that allows the page's first script."""
    match = re.search("<script>(.*?)</script>", page, re.DOTALL)
    return source_of(match[1] if match else "")


def source_of(content: str) -> str:
    """The policy source that allows an element with this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


async def description(request: Request, _: NoQuery) -> Response:
    return Response((await _descriptions(request.app))[0], media_type="application/json")


async def for_language_models(request: Request, _: NoQuery) -> PlainTextResponse:
    """The operations in the form of llmstxt.org, so that a language model finds the description."""
    return PlainTextResponse((await _descriptions(request.app))[1])


async def _descriptions(app: FastAPI) -> tuple[bytes, str]:
    """The OpenAPI description and its overview, made once, in a thread: no other request waits for that."""
    return await asyncio.get_running_loop().run_in_executor(None, _described, app)


def _described(app: FastAPI) -> tuple[bytes, str]:
    with app.state.describing:  # goes on where the request that began it goes away
        if not hasattr(app.state, "described"):
            app.state.described = _describe(app)
        described: tuple[bytes, str] = app.state.described
        return described


def _describe(app: FastAPI) -> tuple[bytes, str]:
    described = app.openapi()
    operations = [
        f"- `{method.upper()} {path}`: {operation['summary']}"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    head = [f"# {app.title}", "", f"> {app.summary}", "", app.description.strip(), "", "## API", ""]
    links = [f"- [OpenAPI description]({DESCRIPTION_PATH}): every field, limit and error", "- [Forms](/docs)"]
    return orjson.dumps(described), "\n".join([*head, *links, "", "## Operations", "", *operations, ""])


async def forms(request: Request, _: NoQuery) -> HTMLResponse:
    """The OpenAPI description as a page with forms."""
    page = get_swagger_ui_html(
        openapi_url=DESCRIPTION_PATH,
        title=request.app.title,
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon.png",
    )
    # our files, inline pictures and the page's own script; Swagger UI sets inline styles
    page.headers["Referrer-Policy"] = "no-referrer"
    page.headers[POLICY_HEADER] = policy(
        {
            "default-src": "'self'",
            "script-src": f"'self' {script_source(bytes(page.body).decode())}",
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data:",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
        }
    )
    return page


async def forms_file(name: str, _: NoQuery) -> Response:
    if name not in _MEDIA_TYPES:
        raise ApiError("not_found")
    # not the framework's response of a file: it answers a range that is none in plain text
    content = await asyncio.to_thread((_SWAGGER_FILES / name).read_bytes)
    return Response(content, media_type=_MEDIA_TYPES[name], headers=_CACHE_A_DAY)


def router(*dependencies: Dependency) -> APIRouter:
    """The routes of these pages, each with these dependencies."""
    pages = APIRouter(include_in_schema=False, dependencies=dependencies)
    pages.get(DESCRIPTION_PATH)(description)
    pages.get("/llms.txt")(for_language_models)
    pages.get("/docs")(forms)
    pages.get("/docs/{name}")(forms_file)
    return pages
