"""Decides which token the page may carry: one that is worth nothing to whoever reads it there."""

from datetime import datetime
from typing import Final

from store.auth.tokens import Token

PAGE_SCOPES: Final = frozenset({"search", "order"})


def unfit_for_a_page(token: Token, now: datetime) -> str | None:
    """Why everybody who opens a page must not get this token; None where they may (docs/decisions/0067)."""
    problems = {
        "it has been revoked or has expired": not token.usable(now),
        "it does not have the scope search": "search" not in token.scopes,
        "it has more scopes than search and order": not token.scopes <= PAGE_SCOPES,
        "it orders real items: create it with --sandbox": "order" in token.scopes and not token.sandbox,
        "pages of every site may use it: create it with --origin": not token.origins,
        "it has no rate limit of its own: create it with --rate-limit": token.rate_limit is None,
    }
    return next((problem for problem, applies in problems.items() if applies), None)
