"""The rank: an item and its platform's order of relevance in, a number out; lower comes first among equals. Pure.

Of the item's quality group, then its place among what is popular (by its weapon where that is listed, else by its
type), then the place of its tournament, then how many words its name has (`Doppler` before `Gamma Doppler`), those of
the exterior not counted.
"""

from indexer.checked_item import CheckedItem
from mappings.platforms import Relevance

PLACES = 10_000
EVENTS = 1_000
MOST_WORDS = 999


def rank_of(item: CheckedItem, relevance: Relevance) -> int:
    """`quality group * 10^10 + place * 10^6 + tournament * 10^3 + words`."""
    details = item.details
    group = relevance.groups.get(details.quality, 0)
    places = relevance.places
    place = places.get(details.weapon, places.get(details.type, len(places)))
    event = relevance.events.get(details.tournament, len(relevance.events))
    words = len(item.name.split())
    if details.exterior is not None and item.name.endswith(f"({details.exterior})"):
        words -= len(details.exterior.split())
    return ((group * PLACES + place) * EVENTS + event) * (MOST_WORDS + 1) + min(words, MOST_WORDS)
