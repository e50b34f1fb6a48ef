"""Product lookups: what a search body asks of products, to be looked up first and put into it as keys. Pure.

Texts are matched with products, of which there are few, and listings name their product by its key. So each part of a
query that only products can answer becomes a lookup in the index of products, and the keys that it finds take the place
of that part. The parts are as large as possible: of clauses that must all be met, those about products are one lookup.

A part that excludes is looked up by what it excludes, which is less.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

import orjson

from mappings.definition import Definition
from mappings.fields import DETAILS

Clause = dict[str, Any]
Hits = Sequence[tuple[float, str]]
"""The scores and keys that a lookup finds, those with the highest score first."""
Keys = Sequence[tuple[float, Clause]]
"""The clauses for the listings with the keys that a lookup finds, by score."""

PRODUCT: Final = "product"
STICKERS: Final = "stickers"
_PLACE: Final = "lookup"  # no clause of the engine has this name
_AND: Final = ("must", "filter")
_NOTHING: Final[Clause] = {"match_none": {}}
MIN_MANY: Final = 300
"""Keys from which on a detail is looked for that says them."""
MAX_TYPES: Final = 3
MAX_EXCEPTIONS_SHARE: Final = 4
"""A detail says keys if a quarter as many, at most, are exceptions."""


@dataclass
class Lookup:
    """A query for products, or for names of stickers, whose keys listings have in the field `key_field`.

    `is_scored`: the scores count. `is_sample`: some of what it finds are enough.
    """

    key_field: str
    query: Clause
    is_scored: bool
    is_sample: bool

    def request(self, size: int, after: Sequence[Any] = ()) -> Clause:
        """The search body for `size` of the keys, after the hit with these sort values."""
        matched: Clause = {"exists": {"field": self.key_field}}
        query: Clause = {"bool": {"filter": [self.query, matched]}}
        sort: list[Clause] = [{self.key_field: "asc"}]
        if self.is_scored:
            query = {"bool": {"must": [self.query], "filter": [matched]}}
            sort = [{"_score": "desc"}, *sort]
        body: Clause = {
            "query": query,
            "sort": sort,
            "size": size,
            "track_total_hits": False,
            "_source": False,
            "stored_fields": "_none_",
        }
        return {**body, "search_after": list(after)} if after else body

    @property
    def identity(self) -> bytes:
        """What tells it from other lookups."""
        return orjson.dumps((self.key_field, self.query, self.is_scored, self.is_sample))

    def hits(self, sort_values: Iterable[Sequence[Any]]) -> Hits:
        """The hits with these sort values."""
        return [(values[0] if self.is_scored else 0, values[-1]) for values in sort_values]

    def types_request(self) -> Clause:
        """The search body for the types that most of what it finds has."""
        types = {"terms": {"field": "type", "size": MAX_TYPES}}
        return {"query": self.query, "size": 0, "track_total_hits": False, "aggs": {"types": types}}

    def details(self, fields: "Fields", types: Sequence[str]) -> "list[Lookup]":
        """Lookups of details that may say the same: those that the query names, and these types."""
        leaves = [leaf for leaf in _leaves(self.query) if fields.details.issuperset(_own_fields(leaf))]
        leaves += [{"terms": {"type.folded": [name]}} for name in types]
        unique = {orjson.dumps(leaf): leaf for leaf in leaves}.values()
        return [Lookup(self.key_field, leaf, is_scored=False, is_sample=False) for leaf in unique]


@dataclass
class Lookups:
    """The lookups of some search bodies, each once, and the bodies with places for what they find."""

    fields: "Fields"
    bodies: list[Clause] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    _numbers: dict[bytes, int] = field(default_factory=dict)
    _names: dict[int, frozenset[str]] = field(default_factory=dict)

    def names(self, clause: Clause) -> frozenset[str]:
        """The names of the fields that a clause compares."""
        names = self._names.get(id(clause))  # the bodies hold their clauses while this lives
        if names is None:
            names = self._names[id(clause)] = frozenset().union(*map(self.names, _parts(clause)), _own_fields(clause))
        return names

    def place(self, key_field: str, query: Clause, context: "_Context") -> Clause:
        """The place of what a lookup finds."""
        identity = orjson.dumps((key_field, query))
        number = self._numbers.setdefault(identity, len(self.lookups))
        if number == len(self.lookups):
            self.lookups.append(Lookup(key_field, query, context.is_scored, context.is_sample))
        lookup = self.lookups[number]
        lookup.is_scored = lookup.is_scored or context.is_scored
        lookup.is_sample = lookup.is_sample and context.is_sample
        return {_PLACE: [number, context.is_scored]}


@dataclass(frozen=True)
class _Context:
    """Where a clause stands: whether its score counts, and whether one of the items that meet it is enough."""

    is_scored: bool
    is_sample: bool

    @property
    def unscored(self) -> "_Context":
        """The same without a score."""
        return replace(self, is_scored=False)


@dataclass(frozen=True)
class Fields:
    """Which index has the fields that queries name."""

    products: frozenset[str]  # all fields of products
    products_only: frozenset[str]
    details: frozenset[str]  # of products, which listings have as well

    @classmethod
    def of(cls, definition: Definition) -> "Fields":
        """Those of a definition."""
        details = frozenset(f"{name}.folded" for name in DETAILS)
        return cls(definition.product_fields(), definition.products_only(), details)

    def narrows(self, names: frozenset[str]) -> bool:
        """Whether products can answer a clause with these fields, alone or as well as listings."""
        return bool(names) and names <= self.products and not any(name.startswith(STICKERS) for name in names)

    def owner(self, names: frozenset[str]) -> str | None:
        """The field of listings with the keys of what alone can answer a clause with these fields; None where listings
        answer it.
        """
        if names.isdisjoint(self.products_only) or not names <= self.products:
            return None
        about_stickers = {name for name in names if name.startswith(STICKERS)}
        if not about_stickers:
            return PRODUCT
        return STICKERS if about_stickers == names else None


def lookups_of(bodies: Iterable[Clause], fields: Fields) -> Lookups:
    """The lookups that search bodies need; none for bodies without texts."""
    found = Lookups(fields)
    found.bodies = [_body(body, found) for body in bodies]
    return found


def places_of(body: Clause) -> set[int]:
    """The numbers of the lookups whose places a body has."""
    return set(_places(body))


def with_keys(body: Clause, found: Sequence[Keys], lookups: Sequence[Lookup], flat: Sequence[int] = ()) -> Clause:
    """The body with what the lookups have found in their places; `flat` are platforms whose listings are their own
    products.
    """
    filled: Clause = _filled(body, found, lookups, flat)
    return filled


def is_probe(body: Clause) -> bool:
    """Whether a search asks only if there is an item."""
    return body.get("size") == 0 and body.get("terminate_after") == 1


def _body(body: Clause, found: Lookups) -> Clause:
    """The body with places in its query and in the filters of its aggregations."""
    sort = body.get("sort", ({"_score": {}},) if body.get("size") != 0 else ())
    is_scored = any(isinstance(each, Mapping) and "_score" in each for each in sort)
    context = _Context(is_scored, is_probe(body))
    copy = {**body, "query": _clause(body["query"], found, context)} if "query" in body else dict(body)
    for name in {"aggs", "aggregations"} & body.keys():
        copy[name] = {key: _aggregation(each, found) for key, each in body[name].items()}
    return copy


def _aggregation(aggregation: Clause, found: Lookups) -> Clause:
    filters = aggregation.get("filters")
    if filters is None:
        return aggregation
    context = _Context(is_scored=False, is_sample=False)
    clauses = {name: _clause(clause, found, context) for name, clause in filters["filters"].items()}
    return {**aggregation, "filters": {**filters, "filters": clauses}}


def _clause(clause: Clause, found: Lookups, context: _Context) -> Clause:
    """The clause with places for what has to be looked up."""
    names = found.names(clause)
    if names.isdisjoint(found.fields.products_only):
        return clause
    owner = found.fields.owner(names)
    if owner is not None and not _is_broad(clause):
        return found.place(owner, clause, context)
    ((kind, content),) = clause.items()
    if kind == "constant_score":
        return {kind: {**content, "filter": _clause(content["filter"], found, context.unscored)}}
    return {kind: _bool(content, found, context)}


def _bool(content: Clause, found: Lookups, context: _Context) -> Clause:
    """A `bool` of clauses about products and others: what must be met of products is one lookup."""
    lists = {name: _listed(content.get(name)) for name in (*_AND, "should", "must_not")}
    places: list[Clause] = []
    if any(_is_looked_up(clause, found) for name in _AND for clause in lists[name]):
        together: Clause = {}
        # what may be met is not part of it where one of several must be
        for name in _AND if "minimum_should_match" in content else (*_AND, "should"):
            together[name] = [clause for clause in lists[name] if found.fields.owner(found.names(clause)) == PRODUCT]
            lists[name] = [clause for clause in lists[name] if clause not in together[name]]
        # what else is filtered by may say it of products as well, of which there are then fewer
        narrowing = [clause for clause in lists["filter"] if _narrows(clause, found)]
        together["filter"] += narrowing
        lists["filter"] = [clause for clause in lists["filter"] if clause not in narrowing]
        query = {"bool": {name: clauses for name, clauses in together.items() if clauses}}
        places.append(found.place(PRODUCT, query, context))
    alternatives = [clause for clause in lists["should"] if _is_looked_up(clause, found)]
    should = [_clause(clause, found, context) for clause in lists["should"] if clause not in alternatives]
    if alternatives:
        query = {"bool": {"should": alternatives, "minimum_should_match": 1}}
        should.append(found.place(PRODUCT, query, context))
    # what is excluded must be known in full; where a text is, details go along, since they may say it all
    excluded = _Context(is_scored=False, is_sample=False)
    must_not = lists["must_not"]
    if any(_is_looked_up(clause, found) for clause in must_not):
        products = [clause for clause in must_not if _narrows(clause, found)]
        query = {"bool": {"should": products, "minimum_should_match": 1}}
        places_excluded = [found.place(PRODUCT, query, excluded)]
        must_not = [clause for clause in must_not if clause not in products]
    else:
        places_excluded = []
    parts = {
        "must": [*(_clause(clause, found, context) for clause in lists["must"]), *places],
        "filter": [_clause(clause, found, context.unscored) for clause in lists["filter"]],
        "should": should,
        "must_not": [*(_clause(clause, found, excluded) for clause in must_not), *places_excluded],
    }
    others = {name: part for name, part in content.items() if name not in parts}
    return {**others, **{name: clauses for name, clauses in parts.items() if clauses}}


def _is_looked_up(clause: Clause, found: Lookups) -> bool:
    return found.fields.owner(found.names(clause)) == PRODUCT and not _is_broad(clause)


def _narrows(clause: Clause, found: Lookups) -> bool:
    return found.fields.narrows(found.names(clause)) and not _is_broad(clause)


def _is_broad(clause: Clause) -> bool:
    """Whether a clause says only what is not wanted, which most products are."""
    ((kind, content),) = clause.items()
    if kind == "constant_score":
        return _is_broad(content["filter"])
    if kind != "bool":
        return False
    demanded = [part for name in _AND for part in _listed(content.get(name))]
    if demanded:
        return all(map(_is_broad, demanded))
    return any(map(_is_broad, _listed(content.get("should")))) or not content.get("should")


def _listed(clauses: Clause | Sequence[Clause] | None) -> list[Clause]:
    if clauses is None:
        return []
    return [clauses] if isinstance(clauses, dict) else list(clauses)


def _parts(clause: Clause) -> Iterator[Clause]:
    """The clauses right below a clause."""
    ((kind, content),) = clause.items()
    if kind == "bool":
        for name in (*_AND, "should", "must_not"):
            yield from _listed(content.get(name))
    elif kind == "constant_score":
        yield content["filter"]


def _own_fields(clause: Clause) -> Iterator[str]:
    """The fields that a clause itself compares."""
    ((kind, content),) = clause.items()
    if kind == "exists":
        yield content["field"]
    elif kind not in ("bool", "constant_score", "match_all", "match_none", "ids"):
        yield from (name for name in content if name != "boost")


def _places(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        for part in value:
            yield from _places(part)
    elif isinstance(value, dict):
        if _PLACE in value:
            yield value[_PLACE][0]
        for part in value.values():
            yield from _places(part)


def _filled(value: Any, found: Sequence[Keys], lookups: Sequence[Lookup], flat: Sequence[int]) -> Any:
    if isinstance(value, list):
        return [_filled(part, found, lookups, flat) for part in value]
    if not isinstance(value, dict):
        return value
    if _PLACE not in value:
        return {name: _filled(part, found, lookups, flat) for name, part in value.items()}
    number, is_scored = value[_PLACE]
    clause = _keys(found[number], is_scored=is_scored)
    if not flat:
        return clause
    are_flat = {"terms": {"platform": list(flat)}}
    others = {"bool": {"must": [clause], "must_not": [are_flat]}}
    return _either([others, {"bool": {"must": [lookups[number].query], "filter": [are_flat]}}])


def _keys(keys: Keys, *, is_scored: bool) -> Clause:
    """The clause for the listings with these keys, with their scores where these count."""
    if not keys:
        return _NOTHING
    if not is_scored:
        return _either([clause for _, clause in keys])
    return _either([{"constant_score": {"filter": clause, "boost": score}} for score, clause in keys])


def _either(clauses: Sequence[Clause]) -> Clause:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def keys_of(lookup: Lookup, hits: Hits, details: Sequence[tuple[Clause, frozenset[str]]] = ()) -> tuple[Keys, int]:
    """The clauses for the keys that a lookup has found, and how many keys they name.

    Very many keys are said by a detail that nearly all of them have, and nearly nothing else; `details` are those to
    choose from, each with its keys.
    """
    keys: list[tuple[float, Clause]] = []
    count = 0
    for score, same in groupby(hits, key=lambda hit: hit[0]):
        clause, named = _clause_of(lookup.key_field, [key for _, key in same], details)
        keys.append((score, clause))
        count += named
    return keys, count


def _clause_of(key_field: str, keys: list[str], details: Sequence[tuple[Clause, frozenset[str]]]) -> tuple[Clause, int]:
    if len(keys) < MIN_MANY or not details:
        return _named(key_field, keys), len(keys)
    these = frozenset(keys)
    detail, having = min(details, key=lambda each: len(these ^ each[1]))
    lacking, others = sorted(having - these), sorted(these - having)
    if len(lacking) + len(others) > len(keys) // MAX_EXCEPTIONS_SHARE:
        return _named(key_field, keys), len(keys)
    clauses = [detail]
    if lacking:
        clauses = [{"bool": {"filter": [detail], "must_not": [_named(key_field, lacking)]}}]
    if others:
        clauses.append(_named(key_field, others))
    return _either(clauses), len(lacking) + len(others)


def _named(key_field: str, keys: list[str]) -> Clause:
    return {"terms": {key_field: orjson.Fragment(orjson.dumps(keys))}}  # encoded once, however often it is sent


def _leaves(clause: Clause) -> Iterator[Clause]:
    """The clauses that a clause is made of, without those that it excludes."""
    ((kind, content),) = clause.items()
    if kind == "bool":
        for name in (*_AND, "should"):
            for part in _listed(content.get(name)):
                yield from _leaves(part)
    elif kind == "constant_score":
        yield from _leaves(content["filter"])
    elif kind in ("term", "terms"):
        yield clause
