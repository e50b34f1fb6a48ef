"""Whether an item of the index is what was loaded, in the minor units of today. Pure."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from api.engine.responses import StoredItem
from mappings.items.digest import PARTS, content_digest, parts_of
from mappings.money import json_number

Problem = Literal["price", "digest"]


def integrity_problem(stored: StoredItem, platform: int, minor_digits: int, key: bytes) -> Problem | None:
    """What shows that the item was changed after it was loaded; None where nothing does.

    Without a key whoever changes the index can change the digest as well, and an item without one is let through.
    """
    price = None if stored.price is None else json_number(stored.price, minor_digits)
    if price != stored.item["price"]:  # which is in the minor units that the platform had when the product was written
        return "price"
    if stored.digest is None:
        return "digest" if key else None
    # the writer's own encoder: an update by the engine writes numbers in its own way, but the same numbers
    expected = content_digest(msgspec.json.encode(stored.item), stored.listed_at, platform, key)
    return None if stored.digest == dict(zip(PARTS, parts_of(expected), strict=True)) else "digest"


def is_too_old(loaded_at: datetime | None, changed_at: int | None, now: datetime, max_age: timedelta) -> bool:
    """Whether neither the load of the index nor a live change of the item (microseconds since 1970) is recent enough.
    An unknown age is too old.
    """
    changed = None if changed_at is None else datetime.fromtimestamp(0, UTC) + timedelta(microseconds=changed_at)
    times = [at for at in (loaded_at, changed) if at is not None]
    return not times or max(times) < now - max_age
