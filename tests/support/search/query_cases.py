"""Searches of every kind, by name."""

import json

from api.http.json_body import parse
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.fields import FILTERS, SORTS, Kind
from tests.support.platforms import shared_platforms

PLATFORMS = list(shared_platforms())
_REQUESTED: dict[Kind, object] = {
    Kind.FOLDED: ["x"],
    Kind.EXACT: ["x"],
    Kind.INTEGER: [1],
    Kind.MONEY: {"max": 1},
    Kind.RANGE: {"max": 1},
    Kind.ATTACHMENTS: {"count": {"min": 1}},
}
CASES: dict[str, str] = {
    # each filter alone; a case of its name below replaces it
    **{row.name: json.dumps({"filters": {row.name: _REQUESTED[row.kind]}}) for row in FILTERS},
    "everything": "{}",
    "blank": '{"query": " \\u0000\\t "}',
    "words": '{"query": "ak-47 redline"}',
    "accents": '{"query": "Jörmungandr ★ StatTrak™"}',
    "decomposed": '{"query": "Jo\\u0308rmungandr"}',
    "foreign": '{"query": "龍王"}',
    "marks": '{"query": "♥ $"}',
    "star": '{"query": "★"}',
    "beginning": '{"query": "ak redl"}',
    "finished": '{"query": "asiimov redline "}',
    "codes": '{"query": "m4 redline ft st"}',
    "slang": '{"query": "titan holo kato 2014"}',
    "finish_under_an_order": '{"query": "cheapest doppler"}',
    "stickered": '{"query": "stickered ak"}',
    "exclusion": '{"query": "asiimov -awp"}',
    "order_words": '{"query": "cheapest karambit"}',
    "either": '{"query": "redline ft/mw"}',
    "case": '{"query": "case"}',
    "amounts": '{"query": "blaze 20-50 <0.01 #661"}',
    "pattern_or_seed": '{"query": "blaze pattern 661"}',
    "explained": '{"query": "redline ", "explain": true}',
    "relevance_without_query": '{"sort": "relevance"}',
    "page": '{"page": 500, "limit": 20}',
    "nulls": '{"platform": null, "query": null, "filters": null, "limit": null, "page": null, "sort": null}',
    "empty_filters": '{"filters": {"price": {}, "weapon": [], "type": null, "float": {"min": null}}}',
    "price": '{"filters": {"price": {"min": 5, "max": 50}}}',
    "price_between_cents": '{"filters": {"price": {"min": 5.001, "max": 50.009}}}',
    "price_open": '{"filters": {"price": {"max": 1e2}}}',
    "weapon": '{"filters": {"weapon": ["AK-47", "AWP", "AK-47"]}}',
    "type": '{"filters": {"type": ["Rifle"]}}',
    "rarity": '{"filters": {"rarity": ["Covert"]}}',
    "exterior": '{"filters": {"exterior": ["Field-Tested", "minimal  wear"]}}',
    "quality": '{"filters": {"quality": ["StatTrak", "★"]}}',
    "quality_star": '{"filters": {"quality": [" ★ "]}}',
    "phase": '{"filters": {"phase": ["Phase 2"]}}',
    "set": '{"filters": {"set": ["The Phoenix Collection"]}}',
    "tournament": '{"filters": {"tournament": ["Katowice 2014"]}}',
    "color": '{"filters": {"color": ["War Pig Pink"]}}',
    "float": '{"filters": {"float": {"min": 0.07, "max": 0.0701}}}',
    "seed": '{"filters": {"seed": [661, 670, 661]}}',
    "paintIndex": '{"filters": {"paintIndex": [282]}}',
    "pattern": '{"filters": {"pattern": [0]}}',
    "name": '{"filters": {"name": ["★ Flip Knife | Doppler (Factory New)", "x", "x"]}}',
    "ids": '{"filters": {"ids": [40000000001, -1]}}',
    "attachments": '{"filters": {"attachments": {"all": [{"name": "Sticker | NiKo"}, {"name": "Crown", "count": 4}], '
    '"any": [{"name": "★", "maxWear": 0.1}, {"name": " Ōni™", "count": 2, "maxWear": 0.5}], "count": {"min": 1}}}}',
    "attachments_wear": '{"filters": {"attachments": {"all": [{"name": "x", "minWear": 0.05, "maxWear": 0.1}]}}}',
    "attachments_any": '{"filters": {"attachments": {"any": [{"name": "x", "minWear": 0}], "all": null}}}',
    "attachments_count": '{"filters": {"attachments": {"all": [], "any": [], "count": {"min": 0, "max": 4}}}}',
    "attachments_empty": '{"filters": {"attachments": {"all": [], "count": {"min": null}}}}',
    "all_at_once": '{"query": "redline", "filters": {"price": {"min": 1}, "weapon": ["AK-47"], "exterior": ["FT"]}, '
    '"limit": 100, "page": 2, "sort": "float_asc"}',
    **{f"sort_{sort.name}": json.dumps({"query": "x", "sort": sort.name}) for sort in SORTS},
}


def query_of(text: str) -> SearchQuery:
    body = SearchBody.model_validate(parse(text.encode()))
    return SearchQuery(body, parse_query(body.query, PLATFORMS))
