"""Examples of the search's bodies and answers, as OpenAPI shows them and the tests send them."""

from typing import Any

ITEM: dict[str, Any] = {
    "id": 40000012345,
    "name": "AK-47 | Redline (Field-Tested)",
    "price": 21.4,
    "image": "https://example.com/ak47-redline.png",
    "inspectLink": "steam://rungame/730/76561202255233023/+csgo_econ_action_preview%20S1A40000012345D7",
    "description": None,
    "details": {
        "type": "Rifle",
        "weapon": "AK-47",
        "set": "The Phoenix Collection",
        "quality": "Normal",
        "rarity": "Classified",
        "exterior": "Field-Tested",
        "phase": None,
        "tournament": None,
        "color": None,
    },
    "paint": {"float": 0.18234567, "seed": 661, "index": 282, "pattern": None},
    "attachments": [
        {
            "id": 4781,
            "name": "Sticker | Crown (Foil)",
            "wear": 0.0,
            "type": "sticker",
            "image": "https://example.com/crown-foil.png",
        }
    ],
}

STATTRAK_NAME = "StatTrak™ AK-47 | Redline (Field-Tested)"

SEARCH_BODIES: dict[str, Any] = {
    "everything": {},
    "text": {"platform": 730, "query": "ak-47 redline"},
    "asBuyersType": {"platform": 730, "query": "ak redline ft st under 50", "explain": True},
    "filters": {
        "platform": 730,
        "query": "redline",
        "filters": {
            "price": {"min": 5, "max": 50},
            "weapon": ["AK-47"],
            "type": ["Rifle"],
            "rarity": ["Classified"],
            "exterior": ["Minimal Wear", "Field-Tested"],
            "quality": ["Normal"],
            "phase": [],
        },
        "limit": 20,
        "page": 1,
        "sort": "price_asc",
    },
    "attachments": {
        "platform": 730,
        "filters": {
            "weapon": ["AK-47"],
            "attachments": {
                "all": [{"name": "Sticker | Crown (Foil)", "maxWear": 0.1, "count": 4}],
                "any": [{"name": "Sticker | iBUYPOWER (Holo) | Katowice 2014"}, {"name": "Charm | Baby Karat CT"}],
                "count": {"min": 4, "max": 5},
            },
        },
    },
    "facets": {"filters": {"weapon": ["AK-47"]}, "facets": ["weapon", "exterior", "price"]},
    "names": {"query": "redline", "groupBy": "name", "sort": "price_asc"},
    "wear": {"filters": {"float": {"min": 0.15, "max": 0.18}, "seed": [661, 670]}, "sort": "float_asc"},
    "cursor": {"platform": 730, "query": "redline", "sort": "price_asc", "limit": 100, "cursor": "*"},
}

# Each with what it is the answer to, by the name of its body.
SEARCH_ANSWERS: dict[str, tuple[str, Any]] = {
    "text": ("as to every body that asks for nothing more", {"status": "success", "gear": [ITEM], "total": 1}),
    "facets": (
        "`weapon` lists what other weapons would find, because its own filter does not narrow it",
        {
            "status": "success",
            "gear": [ITEM],
            "total": 1,
            "facets": {
                "weapon": [{"value": "AK-47", "count": 1}, {"value": "AWP", "count": 1}],
                "exterior": [{"value": "Field-Tested", "count": 1}],
                "price": {"min": 21.4, "max": 21.4, "buckets": [{"from": 20.0, "to": 50.0, "count": 1}]},
            },
        },
    ),
    "names": (
        "the cheapest item of the only name, of which there are 61",
        {
            "status": "success",
            "gear": [
                {
                    **ITEM,
                    "offers": {
                        "count": 61,
                        "priceMin": 21.4,
                        "priceMax": 118.0,
                        "floatMin": 0.15017219,
                        "floatMax": 0.37926432,
                    },
                }
            ],
            "total": 1,
        },
    ),
    "cursor": (
        "the first page, of whose hits one is shown; the same body with this `nextCursor` as `cursor` gives the next",
        {
            "status": "success",
            "gear": [ITEM],
            "total": 214,
            "nextCursor": "n1sYp0QbWq2Jv7Zt4LxK9w-3eUoRmA5dTcGhXf8iBkEyPzVS",
        },
    ),
    "asBuyersType": (
        "`ft` is an exterior, `st` one of two qualities",
        {
            "status": "success",
            "gear": [{**ITEM, "name": STATTRAK_NAME, "details": {**ITEM["details"], "quality": "StatTrak™"}}],
            "total": 1,
            "interpretation": {
                "platform": 730,
                "reading": "strict",
                "words": ["redline"],
                "filters": {
                    "weapon": ["AK-47"],
                    "exterior": ["Field-Tested"],
                    "quality": ["StatTrak™", "★ StatTrak™"],
                    "price": {"max": 50},
                },
                "terms": [
                    {"typed": "ak", "means": [{"weapon": ["AK-47"]}]},
                    {"typed": "redline", "means": []},
                    {"typed": "ft", "means": [{"exterior": ["Field-Tested"]}]},
                    {"typed": "st", "means": [{"quality": ["StatTrak™", "★ StatTrak™"]}]},
                    {"typed": "under 50", "means": [{"price": {"max": 50}}]},
                ],
                "excluded": [],
                "sort": None,
                "relaxed": [],
            },
        },
    ),
}
SUGGEST_ANSWER: dict[str, Any] = {
    "status": "success",
    "suggestions": [
        {"text": "Redline", "kind": "finish", "count": 214},
        {"text": "AK-47 | Redline (Field-Tested)", "kind": "item", "count": 61},
    ],
}
ITEM_ANSWER: dict[str, Any] = {"status": "success", "gear": ITEM, "available": True}
