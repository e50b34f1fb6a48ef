"""What routes depend on: the parts of the running app, and a query without unknown or repeated parameters."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from api.errors import ApiError, Detail, from_details

Service = TypeVar("Service")


def service_of(request: Request, kind: type[Service]) -> Service:
    """The running app's object of this type; it holds one of each type that a route or a dependency names."""
    service: Service = request.app.state.services[kind]
    return service


def service(kind: type[Service]) -> Callable[[Request], Coroutine[Any, Any, Service]]:
    """A dependency: the running app's object of this type. Async, because the framework runs others in a thread."""

    async def get(request: Request) -> Service:
        return service_of(request, kind)

    return get


def only_query(*parameters: str) -> Callable[[Request], Awaitable[None]]:
    """A dependency that refuses unknown and repeated query parameters."""
    takes = f"this operation takes {', '.join(parameters)}" if parameters else "this operation takes none"

    async def check(request: Request) -> None:
        names = [name for name, _ in request.query_params.multi_items()]
        details = [Detail(name, f"unknown query parameter; {takes}") for name in names if name not in parameters]
        details += [Detail(name, "given more than once") for name in parameters if names.count(name) > 1]
        if details:
            raise from_details(details, len(details))

    return check


async def refuse_get() -> None:
    """A route: the path takes POST alone."""
    raise ApiError("method_not_allowed")


NoQuery = Annotated[None, Depends(only_query())]
