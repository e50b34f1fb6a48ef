"""Routes of the page: `/`, `/explore` and its files."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from api.auth import charge_address
from api.errors import ApiError
from api.explore import page
from api.explore.assets import assets
from api.explore.key import unfit_for_a_page
from api.http.dependencies import only_query, service
from api.settings import Settings
from api.token_cache import TokenCache
from mappings.platforms import Platforms
from store.auth.tokens import Token
from store.connection.errors import StoreUnavailable

router = APIRouter(include_in_schema=False, dependencies=[Depends(charge_address)])
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class ExploreServices:
    """What the pages are made of."""

    settings: Settings
    platforms: Platforms
    token_cache: TokenCache


AppServices = Annotated[ExploreServices, Depends(service(ExploreServices))]

log = structlog.get_logger("gear.api")


@router.get("/")
async def root(services: AppServices, _: Annotated[None, Depends(only_query())]) -> RedirectResponse:
    """Leads people who open the service's address to a page."""
    return RedirectResponse("/explore" if services.settings.explore else "/docs", 307)


@router.get("/explore")
async def explore(services: AppServices) -> HTMLResponse:
    """The page; its query belongs to its scripts, so that a search has an address."""
    _require_enabled(services)
    return HTMLResponse(page.render(await _config(services)), headers=page.headers())


@router.get("/explore/operations")
async def operations(services: AppServices, _: Annotated[None, Depends(only_query())]) -> HTMLResponse:
    """The page of operators, who enter a token of their own: nothing of worth is in it."""
    _require_enabled(services)
    return HTMLResponse(page.render_operations(_config_of(services, None)), headers=page.headers())


@router.get("/explore/static/{digest}/{path:path}")
async def static_file(
    request: Request, digest: str, path: str, services: AppServices, _: Annotated[None, Depends(only_query())]
) -> Response:
    """A file of the page, for ever under this digest."""
    _require_enabled(services)
    asset = assets().by_path.get(path)
    if asset is None:
        raise ApiError("not_found")
    # while a new version is rolled out, its page may ask a server of the old one
    headers = {"Cache-Control": _FOR_EVER if digest == assets().digest else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(asset.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=asset.media_type)
    return Response(asset.content, headers=headers, media_type=asset.media_type)


def _require_enabled(services: ExploreServices) -> None:
    if not services.settings.explore:
        raise ApiError("not_found", "GEAR_EXPLORE is off")


async def _config(services: ExploreServices) -> dict[str, Any]:
    """What the scripts need: the key, what it may do, and the facts of the platforms that no answer has."""
    return _config_of(services, await _page_token(services))


def _config_of(services: ExploreServices, token: Token | None) -> dict[str, Any]:
    return {
        "key": None if token is None else services.settings.explore_token,
        "orders": token is not None and "order" in token.scopes,
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
        token = await services.token_cache.find(plaintext, stale=True)
    except StoreUnavailable:
        return None
    problem = "it is not known" if token is None else unfit_for_a_page(token, datetime.now(UTC))
    if problem is not None:
        log.warning("GEAR_EXPLORE_TOKEN is not put into the page", problem=problem)
        return None
    return token
