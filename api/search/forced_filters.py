"""Reads the filters that a token forces on all it reads.

To the token its searches, facets, groups, suggestions and items, and the relaxation of its texts, are as if nothing
else were loaded.
"""

from functools import lru_cache

from pydantic import BaseModel

from api.http.json_body import checked, parse
from api.search.schemas.search import Filters
from store.auth.tokens import Token


@lru_cache(maxsize=1024)
def read_filters(text: str) -> BaseModel:
    """The `filters` of a search in a JSON text; raises ApiError `invalid_json`, `validation_failed`."""
    return checked(Filters, parse(text.encode("utf-8", "surrogateescape")))


def forced_filters(token: Token) -> BaseModel | None:
    """The filters of the token, None if it reads everything."""
    return None if token.filters is None else read_filters(token.filters)
