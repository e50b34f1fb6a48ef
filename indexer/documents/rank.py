"""The rank: what an item is, its name's words and a platform's order of relevance in, a number out. Pure.

Lower comes first among equals: the quality group counts most, then the place among what is popular (by the weapon
where that is listed, else by the type), then the place of the tournament, then how many words the name has (`Doppler`
before `Gamma Doppler`), those of the exterior not counted.
"""

from indexer.documents.checked_item import CheckedDetails
from mappings.platforms import Relevance

PLACES = 10_000
EVENTS = 1_000
MOST_WORDS = 999


def rank_of(details: CheckedDetails, words: int, relevance: Relevance) -> int:
    """`quality group * 10^10 + place * 10^6 + tournament * 10^3 + words`."""
    group = relevance.groups.get(details.quality, 0)
    places = relevance.places
    place = places.get(details.weapon, places.get(details.type, len(places)))
    event = relevance.events.get(details.tournament, len(relevance.events))
    return ((group * PLACES + place) * EVENTS + event) * (MOST_WORDS + 1) + min(words, MOST_WORDS)
