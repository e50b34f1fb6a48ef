"""What routes depend on: a query without unknown or repeated parameters."""

from collections.abc import Awaitable, Callable

from fastapi import Request

from api.errors import Detail, from_details


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
