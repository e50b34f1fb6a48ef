"""The listings that the judged texts search: seeded samples of the whole catalogue, with an item for each text."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson

from bench.peers.data import PLATFORM, SEED
from bench.relevance.judged import Item, Judgment, Meaning, Span, has_words, value_of, words_of
from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import Sampler
from mappings.platforms import Platform, read_platforms

CATALOGUE = Path(__file__).parents[2] / "data" / "catalogue.ndjson.gz"
# in which listings of one name differ
_LISTING_FIELDS = ("price", "float", "seed", "stickers", "attached")
# by which listings are looked up, the most selective first
_LOOKUP_FIELDS = ("name", "finish", "weapon", "tournament", "phase", "type", "exterior")


def listings_for(count: int, judgments: Sequence[Judgment]) -> list[Item]:
    """So many listings (each row of the catalogue first), and one more for each text that none of them answers.

    An added listing is one of the others with the price, float, seed or sticker that is meant, where it can have that.
    Raises ValueError where the catalogue has nothing that a judgment means: then the judgment is wrong.
    """
    platform = next(platform for platform in read_platforms() if platform.id == PLATFORM)
    rows = read_catalogue(CATALOGUE)
    batches = Sampler(rows, platform, SEED).batches(count)
    lookup = _Lookup(orjson.loads(line) for batch in batches for line in batch.splitlines())
    limits = {row["name"]: Span(min=row["minFloat"], max=row["maxFloat"]) for row in rows}
    added: list[Item] = []
    for judgment in judgments:
        if judgment.means and not any(
            judgment.fits(item) for meaning in judgment.means for item in lookup.candidates(meaning)
        ):
            last = (added or lookup.items)[-1]["id"]
            added.append(_added(judgment, lookup, limits, platform) | {"id": last + 1})
    return lookup.items + added


class _Lookup:
    """Listings by the values of their fields, so that each judgment looks at few."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = list(items)
        self._by: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for item in self.items:
            for field in _LOOKUP_FIELDS:
                self._by[field, value_of(field, item)].append(item)
            for word in set(words_of(item["name"])):
                self._by["words", word].append(item)

    def candidates(self, meaning: Meaning) -> Sequence[Item]:
        """The listings that may be what is meant."""
        candidates = [self.items]
        candidates += [
            [item for value in wanted for item in self._by.get((field, value), [])]
            for field in _LOOKUP_FIELDS
            if (wanted := getattr(meaning, field))
        ]
        candidates += [self._by.get(("words", word), []) for word in meaning.whole_words()]
        return min(candidates, key=len)

    def sticker(self, words: Sequence[str]) -> str:
        """The shortest name of a sticker that has all of the words; the words themselves where none has."""
        have_first = self._by.get(("words", words[0].rstrip("*")), [])
        stickers = (item["name"] for item in have_first if item["name"].startswith("Sticker | "))
        names = [name for name in stickers if has_words(words_of(name), words)]
        return min(names, key=lambda name: (len(name), name), default="Sticker | " + " ".join(map(str.title, words)))


def _added(judgment: Judgment, lookup: _Lookup, limits: dict[str, Span], platform: Platform) -> Item:
    for meaning in judgment.means:
        for item in lookup.candidates(meaning):
            if meaning.fits(item, leave_out=_LISTING_FIELDS):
                for adjusted in _adjusted(meaning, item, limits[item["name"]], platform, lookup):
                    fitting = [each for each in (adjusted, adjusted | {"attachments": []}) if judgment.fits(each)]
                    if fitting:
                        return fitting[0]
    message = f"nothing in the catalogue is what {json.dumps(judgment.query)} is judged to mean; correct the judgment"
    raise ValueError(message)


def _adjusted(meaning: Meaning, item: Item, limits: Span, platform: Platform, lookup: _Lookup) -> Iterator[Item]:
    """The listing with the price, float and seed that are meant, if its exterior and finish allow such a float."""
    paint, price = dict(item["paint"]), item["price"]
    if not meaning.holds("float", item) and meaning.wear is not None:
        bands = [band for band in platform.exterior if band.name == item["details"]["exterior"]]
        if not bands or paint["float"] is None:
            return
        allowed = meaning.wear.intersection(limits).intersection(Span(min=bands[0].low, below=bands[0].high))
        paint["float"] = allowed.middle()
        if not allowed.holds(paint["float"]):
            return
    if not meaning.holds("seed", item):
        paint["seed"] = meaning.seed[0]
    attachments = item["attachments"]
    if not (meaning.holds("stickers", item) and meaning.holds("attached", item)):
        name = lookup.sticker(meaning.stickers or ("crown", "foil"))
        attachments = [{"id": None, "name": name, "wear": None, "type": "Sticker", "image": None}] * 4
    if not meaning.holds("price", item) and meaning.price is not None:
        price = round(meaning.price.middle(), 2)
    yield item | {"paint": paint, "price": price, "attachments": attachments}
