"""Builds the index document of a valid item, with the search features of its name. Pure.

It refuses what the engine would not take, with the field's name, so that no bulk request fails for it.
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from indexer.documents.checked_item import CheckedAttachment, CheckedDetails, CheckedItem
from indexer.documents.product import (
    CACHED_NAMES,
    KeyedDocument,
    attachment_document,
    description_document,
    product_key,
)
from indexer.documents.refusal import ItemRefusedError, Refusal
from mappings.fields import DETAILS
from mappings.histograms import FLOAT_EDGES, bucket_of, price_edges
from mappings.items.attachments import attachment_tokens
from mappings.money import to_minor
from mappings.platforms import Platform, Relevance

# A double has 15 decimal digits for certain.
MAX_EXACT_MINOR = 10**15 - 1
# The ranges of the numbers that `rank` is made of.
RANK_PLACES = 10_000
RANK_EVENTS = 1_000
RANK_WORDS = 1_000
SEPARATOR = " | "
STICKER = "sticker"

NOT_IN_LISTING: Final = ("item", "image", "minorDigits", "shared")
"""What a listing does not store: the item as responses show it, the rest of its product, and other shared documents."""
MIN_SHARED_CHARACTERS: Final = 100
"""A shorter description takes less than the key of one."""


class NameFeatures(NamedTuple):
    """What the name of an item says about it."""

    group: int  # a 64-bit hash of the name, by which the engine groups items (docs/decisions/0020)
    finish: str | None  # what a weapon is painted with
    words: int  # without those of the exterior


def index_document(item: CheckedItem, platform: Platform) -> dict[str, Any]:
    """The fields of an item's listing, and those of NOT_IN_LISTING, of which its digest and its products are made.

    Raises ItemRefusedError where the price is below the platform's least, or has more decimals than its currency.
    """
    details, paint = item.details, item.paint
    features = name_features(item.name, details.weapon, details.exterior)
    # what listings of one product have in common comes together, which the engine's compression makes use of
    document: dict[str, Any] = {
        "item": item.response,
        "image": item.image,
        "minorDigits": platform.minor_digits,
        "platform": platform.id,
        "bound": False,
        "name": item.name,
        "group": features.group,
        "rank": rank_of(details, features.words, platform.relevance),
    }
    for name in DETAILS:
        word = getattr(details, name)
        if word is not None:
            document[name] = word
    if features.finish is not None:
        document["finish"] = features.finish
    document["product"] = product_key(document)
    document["id"] = item.id
    # null is written: the engine keeps a value for it in `price.ascending` (docs/decisions/0033)
    document["price"] = None if item.price is None else _price(item.price, platform)
    document["priceBucket"] = bucket_of(document["price"], price_edges(platform.minor_digits))
    if item.listed_at is not None:
        document["listedAt"] = item.listed_at
    if item.inspect_link is not None:
        document["inspectLink"] = item.inspect_link
    if paint.wear is not None:
        document["float"] = paint.wear
    document["floatBucket"] = bucket_of(paint.wear, FLOAT_EDGES)
    numbers = (("seed", paint.seed), ("paintIndex", paint.index), ("pattern", paint.pattern))
    document.update((name, number) for name, number in numbers if number is not None)
    document["attachmentCount"] = len(item.attachments)
    _add_shared(document, item)
    return document


def _add_shared(document: dict[str, Any], item: CheckedItem) -> None:
    """Adds the shared documents of its attachments and of a long description, and their keys."""
    shared: list[KeyedDocument] = []
    if item.attachments:
        document["attachments"] = attachment_tokens([(attached.name, attached.wear) for attached in item.attachments])
        if stickers := sticker_names(item.attachments):
            document["stickers"] = stickers
        shared = [attachment_document(attached.name, attached.type, attached.image) for attached in item.attachments]
        document["attached"] = [
            {"part": entry.key, "id": attached.id, "wear": attached.wear}
            for entry, attached in zip(shared, item.attachments, strict=True)
        ]
    if item.description is not None:
        if len(item.description) < MIN_SHARED_CHARACTERS:
            document["description"] = item.description
        else:
            entry = description_document(item.description)
            document["descriptionPart"] = entry.key
            shared.append(entry)
    document["shared"] = shared


@lru_cache(CACHED_NAMES)
def name_features(name: str, weapon: str | None, exterior: str | None) -> NameFeatures:
    """The features of a name, given the item's weapon and exterior."""
    group = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
    words = len(name.split())
    if exterior is not None and name.endswith(f"({exterior})"):
        words -= len(exterior.split())
    return NameFeatures(group, finish_of(name, weapon, exterior), words)


def finish_of(name: str, weapon: str | None, exterior: str | None) -> str | None:
    """The finish of a weapon: `Redline` of `AK-47 | Redline (Field-Tested)`; None for anything but a weapon."""
    if weapon is None:
        return None
    finish = name.partition(SEPARATOR)[2]
    if exterior is not None:
        finish = finish.removesuffix(f"({exterior})")
    return finish.strip() or None


def sticker_names(attachments: Iterable[CheckedAttachment]) -> list[str]:
    """The distinct names of the stickers on an item; an attachment without a type counts as a sticker."""
    return list(
        dict.fromkeys(
            attached.name for attached in attachments if attached.type is None or attached.type.casefold() == STICKER
        )
    )


def rank_of(details: CheckedDetails, words: int, relevance: Relevance) -> int:
    """`quality group * 10^10 + place * 10^6 + tournament * 10^3 + words`; the lower number comes first among equals.

    The place is that of the weapon among what is popular, or of the type where the weapon is not listed. Fewer words
    come first: `Doppler` before `Gamma Doppler`.
    """
    group = relevance.groups.get(details.quality, 0)
    places = relevance.places
    place = places.get(details.weapon, places.get(details.type, len(places)))
    event = relevance.events.get(details.tournament, len(relevance.events))
    return ((group * RANK_PLACES + place) * RANK_EVENTS + event) * RANK_WORDS + min(words, RANK_WORDS - 1)


def _price(price: float, platform: Platform) -> int:
    """The price in minor units, exactly; raises ItemRefusedError, also where it is below the platform's least."""
    digits = platform.minor_digits
    scale: int = 10**digits
    minor = round(price * scale)
    # Dividing integers gives the double nearest to the decimal. Where that is the price, and it has no more digits than
    # a double keeps, `minor` is the decimal that the source wrote.
    if minor > MAX_EXACT_MINOR or minor / scale != price:
        try:
            # repr is the shortest decimal that reads as this double, so it is what the source wrote
            minor = to_minor(Decimal(repr(price)), digits)
        except ValueError as error:
            raise ItemRefusedError((Refusal("price", repr(price), str(error)),)) from error
    if minor < platform.min_minor:
        reason = f"must be at least {platform.min_price}, the least price of the platform"
        raise ItemRefusedError((Refusal("price", repr(price), reason),))
    return minor
