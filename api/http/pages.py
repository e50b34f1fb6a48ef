"""The description's own pages: the running app in, `/openapi.json` and the forms to try it at `/docs` out.

Whoever tries it types a token into the page, so all of its scripts come from here and it may load no others.
"""

from importlib.resources import files
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import FileResponse, HTMLResponse, JSONResponse

from api.errors import ApiError
from api.http.content_policy import HEADER, digest, policy
from api.http.query_params import only_query

DESCRIPTION_PATH: Final = "/openapi.json"
# The files of Swagger UI, as a package has them that the lock holds to its hash.
_FILES: Final = files("fastapi_offline") / "static"
_TYPES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_DAY: Final = {"Cache-Control": "public, max-age=86400"}

router = APIRouter(include_in_schema=False)


@router.get(DESCRIPTION_PATH)
async def description(request: Request, _: Annotated[None, Depends(only_query())]) -> JSONResponse:
    """The OpenAPI description."""
    return JSONResponse(request.app.openapi())


@router.get("/docs")
async def forms(request: Request, _: Annotated[None, Depends(only_query())]) -> HTMLResponse:
    """The description as a page with forms."""
    page = get_swagger_ui_html(
        openapi_url=DESCRIPTION_PATH,
        title=request.app.title,
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon.png",
    )
    # what comes from here, pictures within it, and its own script; it writes styles into its elements
    page.headers[HEADER] = policy(
        {
            "default-src": "'self'",
            "script-src": f"'self' {digest('script', bytes(page.body).decode())}",
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data:",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
        }
    )
    return page


@router.get("/docs/{name}")
async def part_of_forms(name: str, _: Annotated[None, Depends(only_query())]) -> Response:
    """What the page with forms is made of."""
    if name not in _TYPES:
        raise ApiError("not_found")
    return FileResponse(str(_FILES / name), media_type=_TYPES[name], headers=_DAY)
