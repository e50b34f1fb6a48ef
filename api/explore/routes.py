"""Routes of the page: `/`, `/explore` and its files."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from api.auth import charge_address
from api.errors import ApiError
from api.explore import page
from api.http.dependencies import NoQuery, service
from api.http.negotiation import names_taken
from api.log import log
from api.settings import Settings
from api.token_cache import TokenCache
from mappings.fields import FACETS, SORTS
from mappings.platforms import Platforms
from store.auth.tokens import Token
from store.connection.errors import StoreUnavailable

router = APIRouter(include_in_schema=False, dependencies=[Depends(charge_address)])
_FOR_EVER = "public, max-age=31536000, immutable"
PAGE_SCOPES: Final = frozenset({"search", "order"})


@dataclass(frozen=True)
class ExploreServices:
    settings: Settings
    platforms: Platforms
    token_cache: TokenCache


ExploreDependency = Annotated[ExploreServices, Depends(service(ExploreServices))]


@router.get("/")
async def root(request: Request, services: ExploreDependency) -> RedirectResponse:
    """Leads people who open the service's address to a page, with the query of their link."""
    if not services.settings.explore:
        return RedirectResponse("/docs", 307)
    return RedirectResponse(request.url.replace(scheme="", netloc="", path="/explore"), 307)


@router.get("/explore")
async def explore(services: ExploreDependency) -> HTMLResponse:
    """The page; its query belongs to its scripts, so that a search has an address."""
    _require_enabled(services)
    return HTMLResponse(page.render(_config(services, await _page_token(services))), headers=page.headers())


@router.get("/explore/operations")
async def operations(services: ExploreDependency) -> HTMLResponse:
    """The page of operators, who enter a token of their own: nothing of worth is in it."""
    _require_enabled(services)
    return HTMLResponse(page.render_operations(_config(services, None)), headers=page.headers())


@router.get("/explore/static/{digest}/{path:path}")
async def static_file(request: Request, digest: str, path: str, services: ExploreDependency, _: NoQuery) -> Response:
    """A file of the page, for ever under this digest."""
    _require_enabled(services)
    asset = page.assets().by_path.get(path)
    if asset is None:
        raise ApiError("not_found")
    # while a new version is rolled out, its page may ask a server of the old one
    headers = {"Cache-Control": _FOR_EVER if digest == page.assets().digest else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" in names_taken(request.headers.get("Accept-Encoding", "")):
        return Response(asset.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=asset.media_type)
    return Response(asset.content, headers=headers, media_type=asset.media_type)


def _require_enabled(services: ExploreServices) -> None:
    if not services.settings.explore:
        raise ApiError("not_found", "GEAR_EXPLORE is off")


def _config(services: ExploreServices, token: Token | None) -> dict[str, Any]:
    """What the scripts need before their first request: the key, what it may do, platforms, facets and sorts."""
    return {
        "key": None if token is None else services.settings.explore_token,
        "orders": token is not None and "order" in token.scopes,
        "facets": [{"name": row.name, "kind": row.kind} for row in FACETS],
        "sorts": [sort.name for sort in SORTS],
        "platforms": [
            {
                "id": platform.id,
                "slug": platform.slug,
                "name": platform.name,
                "currency": platform.currency,
                "exteriors": [{"name": band.name, "from": band.low, "to": band.high} for band in platform.exterior],
            }
            for platform in services.platforms
        ],
    }


async def _page_token(services: ExploreServices) -> Token | None:
    """The token that the page carries; None where there is none, or none that it may carry."""
    plaintext = services.settings.explore_token
    if not plaintext:
        return None
    try:
        token = await services.token_cache.find(plaintext, allow_stale=True)
    except StoreUnavailable:
        return None
    problem = "it is not known" if token is None else _unfit_for_a_page(token, datetime.now(UTC))
    if problem is not None:
        log.warning("GEAR_EXPLORE_TOKEN is not put into the page", problem=problem)
        return None
    return token


def _unfit_for_a_page(token: Token, now: datetime) -> str | None:
    """Why everybody who opens a page must not get this token; None where they may (docs/decisions/0067)."""
    problems = {
        "it has been revoked or has expired": not token.usable(now),
        "it does not have the scope search": "search" not in token.scopes,
        "it has more scopes than search and order": not token.scopes <= PAGE_SCOPES,
        "it orders real items: create it with --sandbox": "order" in token.scopes and not token.sandbox,
        "pages of every site may use it: create it with --origin": not token.origins,
        "it has no rate limit of its own: create it with --rate-limit": token.rate_limit is None,
    }
    return next((problem for problem, applies in problems.items() if applies), None)
