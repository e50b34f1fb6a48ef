"""The query parameter `platform` of routes without a body."""

from api.errors import invalid
from mappings.platforms import Platform, Platforms


def platform_of(reference: str | None, platforms: Platforms) -> Platform:
    """The platform of a slug or an id; the only one where none is named. Raises ApiError."""
    if reference is None:
        if len(platforms) > 1:
            raise invalid("platform", f"name one: {platforms.describe()}")
        return next(iter(platforms))
    platform = platforms.by_reference(reference)
    if platform is None:
        raise invalid("platform", f"unknown platform; known are {platforms.describe()}", "unknown_platform")
    return platform
