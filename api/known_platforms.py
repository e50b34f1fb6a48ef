"""The platform that a request names. Pure."""

from api.errors import invalid
from mappings.platforms import Platform, Platforms


def known_platform(platforms: Platforms, reference: str | int) -> Platform:
    """The platform of a slug or an id; raises ApiError `unknown_platform`."""
    platform = platforms.by_reference(str(reference))
    if platform is None:
        message = f"unknown platform {reference!r:.100}; known are {platforms.describe()}"
        raise invalid("platform", message, "unknown_platform")
    return platform


def platform_or_only(platforms: Platforms, reference: str | int | None) -> Platform:
    """The same, and the only one where none is named; raises ApiError `validation_failed` where there are several."""
    if reference is not None:
        return known_platform(platforms, reference)
    if len(platforms) > 1:
        raise invalid("platform", f"name one: {platforms.describe()}")
    return next(iter(platforms))
