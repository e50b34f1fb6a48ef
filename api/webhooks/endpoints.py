"""Refuses callback addresses that no endpoint of the token covers."""

from sqlalchemy.ext.asyncio import AsyncConnection

from api.errors import invalid
from store import endpoints


async def check_endpoint(connection: AsyncConnection, token_id: str, callback_url: str | None) -> None:
    """Raises ApiError where the token has endpoints and none covers the callback address."""
    if callback_url is None:
        return
    registered = await endpoints.of_token(connection, token_id)
    if registered and endpoints.covering(registered, callback_url) is None:
        raise invalid("callbackUrl", "is covered by no endpoint that is registered for this token")
