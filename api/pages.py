"""The description's own pages: the running app in, `/openapi.json` and the forms to try it at `/docs` out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, JSONResponse

from api.queries import only_query

DESCRIPTION_PATH = "/openapi.json"

router = APIRouter(include_in_schema=False)


@router.get(DESCRIPTION_PATH)
async def description(request: Request, _: Annotated[None, Depends(only_query())]) -> JSONResponse:
    """The OpenAPI description."""
    return JSONResponse(request.app.openapi())


@router.get("/docs")
async def forms(request: Request, _: Annotated[None, Depends(only_query())]) -> HTMLResponse:
    """The description as a page with forms; the page's scripts come from a public network."""
    return get_swagger_ui_html(openapi_url=DESCRIPTION_PATH, title=request.app.title)
