"""Items for the search tests: made by a seed, with ties, missing values and every odd spelling of real names."""

import random
from typing import Any

_NAMES: tuple[tuple[str, str | None, str | None], ...] = (
    ("AK-47 | Redline", "Rifle", "AK-47"),
    ("M4A1-S | Printstream", "Rifle", "M4A1-S"),
    ("M4A4 | 龍王 (Dragon King)", "Rifle", "M4A4"),
    ("Five-SeveN | Case Hardened", "Pistol", "Five-SeveN"),
    ("USP-S | Kill Confirmed", "Pistol", "USP-S"),
    ("P250 | Asiimov", "Pistol", "P250"),
    ("P90 | Asiimov", "SMG", "P90"),
    ("AWP | Jörmungandr", "Sniper Rifle", "AWP"),
    ("SSG 08 | Blood in the Water", "Sniper Rifle", "SSG 08"),
    ("★ Karambit | Doppler", "Knife", "Karambit"),
    ("★ StatTrak™ Bayonet | Fade", "Knife", "Bayonet"),
    ("★ Bayonet", "Knife", "Bayonet"),
    ("★ Hand Wraps | Cobalt Skulls", "Gloves", "Hand Wraps"),
    ("StatTrak™ Swap Tool", "Tool", None),
    ("Sticker | niko  | London 2018", "Sticker", None),
    ("Sticker | NiKo | London 2018", "Sticker", None),
    ("Sticker | I ♥ $", "Sticker", None),
    ("Saïba Ōni", None, None),
)
_EXTERIORS = (None, "Factory New", "Minimal Wear", "Field-Tested", "Well-Worn", "Battle-Scarred")
_QUALITIES = (None, "Normal", "★", "★ StatTrak™", "StatTrak™", "Souvenir")
_RARITIES = (None, "Covert", "Classified", "Base Grade")
_PHASES = (None, None, "Phase 1", "Phase 2", "Ruby", "Black Pearl")
_SETS = (None, "The Phoenix Collection", "Jörmungandr Collection")
_COLORS = (None, "War Pig Pink", "war  pig pink", "Wár Pig Pink", "★", "★★")
_PRICES = (None, 0.0, 0.03, 0.29, 1.1, 5.0, 5.01, 19.99, 20.0, 1999.99, 2000.0, 10**12)
_FLOATS = (None, 0.0, 0.07, 0.29, 0.15, 0.1500000059604645, 0.38, 1.0)
_LISTED = (
    None,
    "2026-08-01T10:00:00Z",
    "2026-08-01T12:00:00+02:00",
    "2026-08-01T10:00:00.000001Z",
    "2026-08-02T00:00:00Z",
)


# Two that differ by case alone, one that folds to nothing, one that looks like a token of the index.
_STICKERS = ("Sticker | NiKo", "Sticker | niko", "Sticker | Crown (Foil)", "Charm | Līl Ava", "★", "crown\x1f1:3ff")
_WEARS = (None, 0.0, -0.0, 5e-324, 0.07, 0.1, 0.1, 0.15, 0.1500000059604645, 1.0)


def make_items(count: int, seed: int) -> list[dict[str, Any]]:
    """As many items, the same for the same seed; few distinct values, so that everything has ties."""
    chance = random.Random(seed)
    return [_item(chance, number) for number in chance.sample(range(-5, 10 * count), count)]


def _attachments(chance: random.Random) -> list[dict[str, Any]]:
    """Up to five, often several of one name."""
    names = chance.sample(_STICKERS, 2)
    count = chance.choice((0, 0, 1, 2, 3, 4, 5))
    return [{"name": chance.choice(names), "wear": chance.choice(_WEARS)} for _ in range(count)]


def _item(chance: random.Random, number: int) -> dict[str, Any]:
    name, kind, weapon = chance.choice(_NAMES)
    exterior = chance.choice(_EXTERIORS)
    listed = chance.choice(_LISTED)
    item: dict[str, Any] = {
        "id": number,
        "name": name if exterior is None else f"{name} ({exterior})",
        "price": chance.choice(_PRICES),
        "details": {
            "type": kind,
            "weapon": weapon,
            "set": chance.choice(_SETS),
            "quality": chance.choice(_QUALITIES),
            "rarity": chance.choice(_RARITIES),
            "exterior": exterior,
            "phase": chance.choice(_PHASES),
            "tournament": "London 2018" if "London" in name else None,
            "color": chance.choice(_COLORS),
        },
        "paint": {
            "float": chance.choice(_FLOATS),
            "seed": chance.choice((None, 1, 661)),
            "index": chance.choice((None, 282, 44)),
            "pattern": chance.choice((None, 0, 3)),
        },
        "attachments": _attachments(chance),
    }
    return item if listed is None else {**item, "listedAt": listed}
