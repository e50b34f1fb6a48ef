"""All relaxations of a text, in their order."""

from api.search.parsing.parse import ParsedQuery
from api.search.relaxation.relaxations import as_typed, loose


def relaxations(strict: ParsedQuery, offer: ParsedQuery | None = None) -> list[ParsedQuery]:
    """The relaxations without corrections, the strict parse among them; of a trade post, its offer's."""
    if offer is None:
        return [*as_typed(strict), *loose(strict)]
    return [*as_typed(strict), *as_typed(offer), *loose(offer)]
