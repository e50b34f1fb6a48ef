"""Product lookups: a query with the keys of products finds what the query finds in listings with their products."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as some

from api.engine.clauses import aggregation_request, is_probe, probe
from api.engine.product_keys import MIN_MANY, keys_of, placeholders_in, with_keys
from api.engine.product_lookups import Fields, Lookup, Lookups, lookups_of
from mappings.definition import read_definition

FIELDS = Fields.of(read_definition())
Clause = dict[str, Any]
Document = dict[str, Any]

WORD = {"match": {"text": "redline"}}
OTHER_WORD = {"match": {"text": "asiimov"}}
LETTERS = {"term": {"name.letters": "redline"}}
STICKER = {"match": {"stickers.typed": "crown"}}
EXTERIOR = {"terms": {"exterior.folded": ["ft"]}}
WEAPON = {"terms": {"weapon.folded": ["ak"]}}
PLATFORM = {"term": {"platform": 730}}
CHEAP = {"range": {"price": {"lte": 50}}}
OFFERED = {"bool": {"must_not": [{"term": {"bound": True}}]}}

PRODUCTS: list[Document] = [
    {
        "product": f"p{number}",
        "text": {"redline"} if number & 1 else {"asiimov"},
        "name.letters": "redline" if number == 1 else "other",
        "exterior.folded": "ft" if number & 2 else "mw",
        "weapon.folded": "ak" if number & 4 else "awp",
        "platform": 730 if number < 12 else 570,
    }
    for number in range(16)
]
STICKERS: list[Document] = [
    {"stickers": name, "stickers.typed": {name}, "platform": platform}
    for name, platform in (("crown", 730), ("titan", 730), ("crown", 570))
]
LISTINGS: list[Document] = [
    {
        **{name: value for name, value in product.items() if name not in FIELDS.products_only},
        "price": 10 * number % 90,
        "bound": number % 5 == 0,
        "stickers": {"crown"} if number % 3 == 0 else {"titan"} if number % 3 == 1 else set(),
    }
    for number, product in enumerate([*PRODUCTS, *PRODUCTS[::-1], *PRODUCTS])
]


def joined(listing: Document) -> Document:
    """The listing with all that its product and its stickers say."""
    product = next(each for each in PRODUCTS if each["product"] == listing["product"])
    return {**product, **listing, "stickers.typed": listing["stickers"]}


def score(clause: Clause, document: Document) -> float | None:
    """The score of a document for a clause, None where it does not match: what the engine's `bool` does."""
    ((kind, content),) = clause.items()
    if kind == "constant_score":
        return None if score(content["filter"], document) is None else content["boost"]
    if kind == "bool":
        return _score_of_bool(content, document)
    if kind == "match_none":
        return None
    if kind == "exists":
        return 1.0 if document.get(content["field"]) else None
    ((field, wanted),) = content.items()
    value = document.get(field)
    if kind == "range":
        return 1.0 if value is not None and value <= wanted["lte"] else None
    values = value if isinstance(value, set) else {value}
    wanted = orjson.loads(orjson.dumps(wanted))
    return 1.0 if values & {*(wanted if isinstance(wanted, list) else [wanted])} else None


def _score_of_bool(content: Clause, document: Document) -> float | None:
    demanded = [score(clause, document) for clause in content.get("must", ())]
    filters = [score(clause, document) for clause in content.get("filter", ())]
    excluded = [score(clause, document) for clause in content.get("must_not", ())]
    either = [each for clause in content.get("should", ()) if (each := score(clause, document)) is not None]
    least = content.get("minimum_should_match", 0 if demanded or filters or not content.get("should") else 1)
    if None in demanded or None in filters or any(each is not None for each in excluded) or len(either) < least:
        return None
    return sum(each for each in (*demanded, *either) if each is not None)


def hits_of(lookup: Lookup) -> list[tuple[float, str]]:
    """The hits of a lookup among the products and the names of stickers, as the engine sorts them."""
    request = lookup.request(100)
    documents = PRODUCTS if lookup.key_field == "product" else STICKERS
    scored = ((score(request["query"], each), each[lookup.key_field]) for each in documents)
    hits = sorted({(each, key) for each, key in scored if each is not None}, key=lambda hit: (-hit[0], hit[1]))
    sort_values = [[each, key] for each, key in hits] if lookup.is_scored else [[key] for _, key in sorted(hits)]
    return list(lookup.hits(sort_values))


def resolved(body: Clause) -> Clause:
    lookups = lookups_of([body], FIELDS)
    filled: dict[str, Any] = with_keys(
        lookups.bodies[0], [keys_of(lookup, hits_of(lookup))[0] for lookup in lookups.lookups]
    )
    return filled


def scores(clause: Clause, documents: Sequence[Document]) -> list[float | None]:
    return [score(clause, document) for document in documents]


HAS_STICKER = {"exists": {"field": "stickers"}}
LEAVES = [HAS_STICKER, WORD, OTHER_WORD, LETTERS, STICKER, EXTERIOR, WEAPON, PLATFORM, CHEAP]


def _bools(clauses: some.SearchStrategy[Clause]) -> some.SearchStrategy[Clause]:
    lists = some.lists(clauses, min_size=1, max_size=3)
    either = some.builds(lambda should: {"bool": {"should": should, "minimum_should_match": 1}}, lists)
    parts = some.dictionaries(some.sampled_from(["must", "filter", "must_not"]), lists, min_size=1)
    optional = some.builds(
        lambda some_parts, should: {
            "bool": {**some_parts, **({"should": should} if {"must", "filter"} & some_parts.keys() else {})}
        },
        parts,
        lists,
    )
    constant = some.builds(
        lambda inner, boost: {"constant_score": {"filter": inner, "boost": boost}}, clauses, some.integers(1, 3)
    )
    return either | parts.map(lambda each: {"bool": each}) | optional | constant


CLAUSES = some.recursive(some.sampled_from(LEAVES), _bools, max_leaves=12)


@given(CLAUSES, some.booleans())
def test_any_query_finds_the_same_with_the_same_scores(clause: Clause, is_scored: bool) -> None:
    query = {"bool": {"must": [clause], "filter": [OFFERED]}}
    sort = [{"_score": "desc"}] if is_scored else [{"price": "asc"}]
    body = resolved({"query": query, "sort": sort})
    expected, actual = scores(query, list(map(joined, LISTINGS))), scores(body["query"], LISTINGS)
    assert FIELDS.products_only.isdisjoint(_names(body)), "listings do not have these fields"
    if is_scored:
        assert actual == pytest.approx(expected)
    else:
        assert [each is None for each in actual] == [each is None for each in expected]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from _names(part)
    elif isinstance(value, list):
        for part in value:
            yield from _names(part)


def test_a_body_without_a_text_stays_as_it_is() -> None:
    body = {
        "query": {"bool": {"filter": [OFFERED, EXTERIOR]}},
        "size": 5,
        "aggs": {"prices": {"stats": {"field": "price"}}},
    }
    lookups = lookups_of([body, {"size": 0}], FIELDS)
    assert (lookups.bodies, lookups.lookups) == ([body, {"size": 0}], [])


def test_what_must_be_met_of_products_is_one_lookup_narrowed_by_what_is_filtered() -> None:
    query = {"bool": {"must": [WORD], "filter": [OFFERED, EXTERIOR, CHEAP, OTHER_WORD], "should": [LETTERS, CHEAP]}}
    lookups = lookups_of([{"query": query, "sort": [{"_score": "desc"}]}], FIELDS)
    (lookup,) = lookups.lookups
    assert lookup.query == {"bool": {"must": [WORD], "filter": [OTHER_WORD, EXTERIOR], "should": [LETTERS]}}
    (body,) = lookups.bodies
    assert body["query"]["bool"]["filter"] == [OFFERED, CHEAP]
    assert body["query"]["bool"]["should"] == [CHEAP]


def test_a_lookup_serves_pages_with_scores_and_counts_without() -> None:
    query = {"bool": {"must": [WORD], "filter": [OFFERED]}}
    lookups = lookups_of([{"query": query, "size": 20}, {"query": query, "size": 0}], FIELDS)
    (lookup,) = lookups.lookups
    assert lookup.is_scored
    assert lookup.request(9, [2.0, "p7"])["search_after"] == [2.0, "p7"]
    page, count = (with_keys(body, [keys_of(lookup, hits_of(lookup))[0]]) for body in lookups.bodies)
    assert "constant_score" in orjson.dumps(page).decode()
    assert "constant_score" not in orjson.dumps(count).decode()


def test_a_search_for_any_item_needs_a_part_of_the_keys_unless_they_are_excluded() -> None:
    query = {"bool": {"filter": [CHEAP, WORD]}}
    assert is_probe(probe(query))
    assert not is_probe({**probe(query), "size": 1})
    assert not is_probe(aggregation_request(query, {}))
    lookups = lookups_of([probe({"bool": {"filter": [CHEAP, WORD], "must_not": [OTHER_WORD]}})], FIELDS)
    assert [lookup.is_sample for lookup in lookups.lookups] == [True, False]
    assert set(placeholders_in(lookups.bodies[0])) == {0, 1}
    both = lookups_of([probe(query), {"query": query, "size": 1}], FIELDS)
    assert [lookup.is_sample for lookup in both.lookups] == [False], "another body needs all"


def test_what_is_excluded_is_looked_up_among_what_is_demanded() -> None:
    inner = {"bool": {"should": [{"bool": {"must_not": [OTHER_WORD, STICKER]}}, CHEAP], "minimum_should_match": 1}}
    lookups = lookups_of([{"query": {"bool": {"filter": [WEAPON, OFFERED, inner]}}, "size": 5}], FIELDS)
    sticker, product = sorted(lookups.lookups, key=lambda lookup: lookup.key_field, reverse=True)
    assert (sticker.key_field, sticker.among) == ("stickers", ()), "stickers have no weapon"
    assert (product.excludes, product.among) == (True, (WEAPON,))
    matched = {"exists": {"field": "product"}}
    assert product.request(9)["query"] == {"bool": {"filter": [product.query, WEAPON, matched]}}
    assert WEAPON in product.types_request()["query"]["bool"]["filter"]
    assert all(detail.among == (WEAPON,) for detail in product.details(FIELDS, ["Knife"]))


def test_a_clause_of_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="`dis_max`"):
        lookups_of([{"query": {"dis_max": {"queries": [WORD]}}}], FIELDS)


def test_filters_of_an_aggregation_are_looked_up_too() -> None:
    filters = {"text": WORD, "price": CHEAP, "stickers": STICKER}
    body = {"query": {"ids": {"values": ["1"]}}, "aggs": {"parts": {"filters": {"filters": filters}}}}
    lookups = lookups_of([body], FIELDS)
    assert [lookup.key_field for lookup in lookups.lookups] == ["product", "stickers"]
    keys = [keys_of(lookup, hits_of(lookup))[0] for lookup in lookups.lookups]
    filled = orjson.loads(orjson.dumps(with_keys(lookups.bodies[0], keys)))
    in_filters = filled["aggs"]["parts"]["filters"]["filters"]
    assert in_filters["price"] == CHEAP
    assert in_filters["stickers"] == {"terms": {"stickers": ["crown"]}}
    assert in_filters["text"]["terms"]["product"] == sorted(p["product"] for p in PRODUCTS if "redline" in p["text"])


MANY = [f"key {number:05}" for number in range(2 * MIN_MANY)]


@pytest.mark.parametrize(
    ("having", "named"),
    [
        (MANY, 0),
        (MANY[5:], 5),
        ([*MANY, "new"], 1),
        ([*MANY[5:], "new"], 6),
        (MANY[: MIN_MANY // 2], len(MANY)),
    ],
    ids=["the same", "some lack it", "one more", "both", "too many exceptions"],
)
def test_very_many_keys_are_said_by_a_detail(having: list[str], named: int) -> None:
    lookup = Lookup("product", WORD, is_scored=False, is_sample=False)
    ((_, clause),), count = keys_of(lookup, [(0, key) for key in MANY], [(EXTERIOR, frozenset(having))])
    assert count == named
    keys = {*MANY, *having}
    documents = [{"product": key, "exterior.folded": "ft" if key in having else "mw"} for key in sorted(keys)]
    assert [each["product"] for each in documents if score(clause, each) is not None] == MANY
    if count:
        assert len(orjson.dumps(clause)) < 60 * (count + 4)


def test_details_are_those_of_the_query_and_the_types_of_what_it_finds() -> None:
    either = {"bool": {"should": [{"constant_score": {"filter": EXTERIOR, "boost": 2}}, WORD], "must_not": [WEAPON]}}
    lookup = Lookup("product", either, is_scored=True, is_sample=False)
    assert lookup.types_request()["query"] == either
    of_type = {"terms": {"type.folded": ["Knife"]}}
    assert [each.query for each in lookup.details(FIELDS, ["Knife"])] == [EXTERIOR, of_type]


def test_lookups_differ_by_all_that_they_ask() -> None:
    kinds = [Lookup("product", WORD, scored, sample) for scored in (False, True) for sample in (False, True)]
    assert len({each.identity for each in [*kinds, Lookup("stickers", WORD, False, False)]}) == 5
    assert Lookups(FIELDS).lookups == []
