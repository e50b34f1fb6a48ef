"""The saved search that tests save."""

from store.auth.tokens import CreatedToken
from store.saved_searches import searches
from store.saved_searches.searches import SavedSearch
from tests.support.store.fixtures import NOW


def search_of(token: CreatedToken, name: str, since: int) -> SavedSearch:
    """A search that is told what changes from there on."""
    return SavedSearch(
        id=searches.new_id(),
        token_id=token.token.id,
        name=name,
        body="{}",
        body_digest=name,
        callback_url="https://shop.example/hook",
        sandbox=False,
        since=since,
        created_at=NOW,
    )
