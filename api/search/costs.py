"""What searches cost in the rate limit of their token, by the engine's work (docs/decisions/0053). Pure."""

from api.search.query.request import SearchQuery
from mappings.vocabulary.words import words_of

# In requests. A page costs 1, from the response cache too; what follows comes on top for what has to be computed.
PAGE_COST = 1
FACETS_COST = 2
GROUPS_COST = 4
SORTED_GROUPS_COST = 29  # in another order than `price_asc`, and by cursor
RELAXED_WORD_COST = 2
SUGGESTIONS_COST = 1
PRICES_COST = 49  # where the list has to be made


def extra_cost(query: SearchQuery) -> int:
    """What a search costs beyond a page, as far as its body tells."""
    cost = FACETS_COST if query.body.facets else 0
    if query.body.group_by is None:
        return cost
    is_cheap = query.sort.name == "price_asc" and query.body.cursor is None
    return cost + (GROUPS_COST if is_cheap else SORTED_GROUPS_COST)


def relaxation_cost(query: SearchQuery) -> int:
    """What it costs more to relax the text, because nothing matches it as it stands."""
    return RELAXED_WORD_COST * len(words_of(query.body.query))
