"""Product lookups: what a search body asks of products, to be looked up first and put into it as keys. Pure.

Texts are matched with products, of which there are few, and listings name their product by its key. So each part of a
query that only products can answer becomes a lookup in the index of products, and the keys that it finds take the place
of that part. The parts are as large as possible: of clauses that must all be met, those about products are one lookup.

A part that excludes is looked up by what it excludes, which is less, among the products that meet the rest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from api.engine.clauses import Clause, is_probe
from mappings.definition import Definition
from mappings.fields import DETAILS
from mappings.folding import single_spaced

Hits = Sequence[tuple[float, str]]
"""The scores and keys that a lookup finds, those with the highest score first."""

PRODUCT: Final = "product"
STICKERS: Final = "stickers"
PLACEHOLDER: Final = "lookup"  # no clause of the engine has this name
_AND: Final = ("must", "filter")
_COMPARING: Final = frozenset(("match", "match_bool_prefix", "prefix", "range", "term", "terms"))
_OTHERS: Final = frozenset(("bool", "constant_score", "ids", "match_all", "match_none"))
MAX_TYPES: Final = 3


@dataclass
class Lookup:
    """A query for products, or for names of stickers, whose keys listings have in the field `key_field`.

    `is_scored`: the scores count. `is_sample`: some of what it finds are enough. `excludes`: none of it is wanted.
    `among`: what products meet if their listings are to be found at all; only keys of these are wanted.
    """

    key_field: str
    query: Clause
    is_scored: bool
    is_sample: bool
    excludes: bool = False
    among: tuple[Clause, ...] = ()

    def request(self, size: int, after: Sequence[Any] = ()) -> Clause:
        """The search body for `size` of the keys, after the hit with these sort values."""
        filters = [*self.among, {"exists": {"field": self.key_field}}]
        query: Clause = {"bool": {"filter": [self.query, *filters]}}
        sort: list[Clause] = [{self.key_field: "asc"}]
        if self.is_scored:
            query = {"bool": {"must": [self.query], "filter": filters}}
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
        return orjson.dumps((self.key_field, self.query, self.is_scored, self.is_sample, self.among))

    def hits(self, sort_values: Iterable[Sequence[Any]]) -> Hits:
        return [(values[0] if self.is_scored else 0, values[-1]) for values in sort_values]

    def types_request(self) -> Clause:
        """The search body for the types that most of what it finds has."""
        types = {"terms": {"field": "type", "size": MAX_TYPES}}
        query: Clause = {"bool": {"filter": [self.query, *self.among]}} if self.among else self.query
        return {"query": query, "size": 0, "track_total_hits": False, "aggs": {"types": types}}

    def details(self, fields: "Fields", types: Sequence[str]) -> "list[Lookup]":
        """Lookups of details that may find the same products: those that the query names, and these types."""
        leaves = [leaf for leaf in _leaves(self.query) if fields.details.issuperset(_own_fields(leaf))]
        leaves += [{"terms": {"type.folded": [single_spaced(name)]}} for name in types]
        unique = {orjson.dumps(leaf): leaf for leaf in leaves}.values()
        return [Lookup(self.key_field, leaf, is_scored=False, is_sample=False, among=self.among) for leaf in unique]


@dataclass
class Lookups:
    """The lookups of some search bodies, each once, and the bodies with placeholders for what they find."""

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

    def owner(self, clause: Clause) -> str | None:
        """The field of listings with the keys of what alone can answer a clause; None where listings answer it."""
        return self.fields.owner(self.names(clause))

    def placeholder(self, key_field: str, query: Clause, context: "_Context") -> Clause:
        among = context.among if context.excludes and key_field == PRODUCT else ()
        identity = orjson.dumps((key_field, query, among))
        number = self._numbers.setdefault(identity, len(self.lookups))
        if number == len(self.lookups):
            self.lookups.append(Lookup(key_field, query, context.is_scored, context.is_sample, context.excludes, among))
        lookup = self.lookups[number]
        lookup.is_scored = lookup.is_scored or context.is_scored
        lookup.is_sample = lookup.is_sample and context.is_sample
        lookup.excludes = lookup.excludes or context.excludes
        return {PLACEHOLDER: [number, context.is_scored]}


@dataclass(frozen=True)
class _Context:
    """Where a clause stands: whether its score counts, whether one of the items that meet it is enough, and whether
    these are excluded. `among`: what products must meet besides.
    """

    is_scored: bool
    is_sample: bool
    excludes: bool = False
    among: tuple[Clause, ...] = ()

    @property
    def unscored(self) -> "_Context":
        return replace(self, is_scored=False)

    @property
    def excluded(self) -> "_Context":
        """What is excluded must be known in full."""
        return replace(self, is_scored=False, is_sample=False, excludes=True)


@dataclass(frozen=True)
class Fields:
    """Which index has the fields that queries name."""

    products: frozenset[str]  # all fields of products
    products_only: frozenset[str]
    details: frozenset[str]  # of products, which listings have as well

    @classmethod
    def of(cls, definition: Definition) -> "Fields":
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
    lookups = Lookups(fields)
    lookups.bodies = [_body(body, lookups) for body in bodies]
    return lookups


def _body(body: Clause, lookups: Lookups) -> Clause:
    """The body with placeholders in its query and in the filters of its aggregations."""
    sort = body.get("sort", ({"_score": {}},) if body.get("size") != 0 else ())
    is_scored = any(isinstance(each, Mapping) and "_score" in each for each in sort)
    context = _Context(is_scored, is_probe(body))
    copy = {**body, "query": _clause(body["query"], lookups, context)} if "query" in body else dict(body)
    for name in {"aggs", "aggregations"} & body.keys():
        copy[name] = {key: _aggregation(each, lookups) for key, each in body[name].items()}
    return copy


def _aggregation(aggregation: Clause, lookups: Lookups) -> Clause:
    filters = aggregation.get("filters")
    if filters is None:
        return aggregation
    context = _Context(is_scored=False, is_sample=False)
    clauses = {name: _clause(clause, lookups, context) for name, clause in filters["filters"].items()}
    return {**aggregation, "filters": {**filters, "filters": clauses}}


def _clause(clause: Clause, lookups: Lookups, context: _Context) -> Clause:
    """The clause with placeholders for what has to be looked up."""
    if lookups.names(clause).isdisjoint(lookups.fields.products_only):
        return clause
    owner = lookups.owner(clause)
    if owner is not None and not _is_broad(clause):
        return lookups.placeholder(owner, clause, context)
    ((kind, content),) = clause.items()
    if kind == "constant_score":
        return {kind: {**content, "filter": _clause(content["filter"], lookups, context.unscored)}}
    return {kind: _bool(content, lookups, context)}


def _bool(content: Clause, lookups: Lookups, context: _Context) -> Clause:
    """A `bool` of clauses about products and others: what must be met of products is one lookup."""
    lists = {name: _listed(content.get(name)) for name in (*_AND, "should", "must_not")}
    demanded = [clause for name in _AND for clause in lists[name] if _narrows(clause, lookups)]
    context = replace(context, among=(*context.among, *demanded))
    placeholders: list[Clause] = []
    if any(_is_looked_up(clause, lookups) for name in _AND for clause in lists[name]):
        together: Clause = {}
        # what may be met is not part of it where one of several must be
        for name in _AND if "minimum_should_match" in content else (*_AND, "should"):
            together[name] = [clause for clause in lists[name] if lookups.owner(clause) == PRODUCT]
            lists[name] = [clause for clause in lists[name] if clause not in together[name]]
        # what else is filtered by may say it of products as well, of which there are then fewer
        narrowing = [clause for clause in lists["filter"] if _narrows(clause, lookups)]
        together["filter"] += narrowing
        lists["filter"] = [clause for clause in lists["filter"] if clause not in narrowing]
        query = {"bool": {name: clauses for name, clauses in together.items() if clauses}}
        placeholders.append(lookups.placeholder(PRODUCT, query, context))
    alternatives = [clause for clause in lists["should"] if _is_looked_up(clause, lookups)]
    should = [_clause(clause, lookups, context) for clause in lists["should"] if clause not in alternatives]
    if alternatives:
        query = {"bool": {"should": alternatives, "minimum_should_match": 1}}
        should.append(lookups.placeholder(PRODUCT, query, context))
    must_not, placeholders_excluded = lists["must_not"], list[Clause]()
    if any(_is_looked_up(clause, lookups) for clause in must_not):
        # where a text is, details go along, since they may say it all
        products = [clause for clause in must_not if _narrows(clause, lookups)]
        query = {"bool": {"should": products, "minimum_should_match": 1}}
        placeholders_excluded = [lookups.placeholder(PRODUCT, query, context.excluded)]
        must_not = [clause for clause in must_not if clause not in products]
    parts = {
        "must": [*(_clause(clause, lookups, context) for clause in lists["must"]), *placeholders],
        "filter": [_clause(clause, lookups, context.unscored) for clause in lists["filter"]],
        "should": should,
        "must_not": [*(_clause(clause, lookups, context.excluded) for clause in must_not), *placeholders_excluded],
    }
    others = {name: part for name, part in content.items() if name not in parts}
    return {**others, **{name: clauses for name, clauses in parts.items() if clauses}}


def _is_looked_up(clause: Clause, lookups: Lookups) -> bool:
    return lookups.owner(clause) == PRODUCT and not _is_broad(clause)


def _narrows(clause: Clause, lookups: Lookups) -> bool:
    return lookups.fields.narrows(lookups.names(clause)) and not _is_broad(clause)


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


def _own_fields(clause: Clause) -> Iterable[str]:
    """The fields that a clause itself compares; raises ValueError for a kind that is not known."""
    ((kind, content),) = clause.items()
    if kind in _COMPARING:
        return [*content]
    if kind == "exists":
        return (content["field"],)
    if kind in _OTHERS:
        return ()
    raise ValueError(f"no lookups for a clause `{kind}`")


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
