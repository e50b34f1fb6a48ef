"""What request headers ask for of a representation (RFC 9110): which codings are taken, which tag is there. Pure."""

import re

_REFUSED = re.compile(r"q=0(\.0*)?")


def is_unchanged(if_none_match: str, etag: str) -> bool:
    """Whether the client has this tag, by weak comparison."""
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or etag.removeprefix("W/") in tags


def names_taken(header: str) -> list[str]:
    """The media types or codings that `Accept` or `Accept-Encoding` names and does not refuse, in their order."""
    return [_name(part) for part in header.split(",") if _is_taken(part)]


def _name(part: str) -> str:
    return part.partition(";")[0].strip().lower()


def _is_taken(part: str) -> bool:
    return not any(_REFUSED.fullmatch(parameter.strip().lower()) for parameter in part.split(";")[1:])
