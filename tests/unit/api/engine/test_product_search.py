"""What lookups have found is remembered under the state of the products that it is of, whatever comes meanwhile."""

from collections.abc import Sequence
from typing import Any

from api.engine.product_lookups import Fields, Lookup, Lookups
from api.engine.product_search import REVISION_REQUEST, ProductSearch
from api.engine.responses import EngineResponse, Hit, Json
from mappings.definition import read_definition

FIELDS = Fields.of(read_definition())
INDEX = "gear-730-20260101-products"
PRODUCTS = ("gear-730-products",)


class Engine:
    """An index of products, of which one more comes between the two halves of a request."""

    def __init__(self) -> None:
        self.keys = ["a"]
        self.number = 1
        self.is_between = False
        self.another = self.nothing

    async def ask(self, _: Sequence[str], bodies: Sequence[Json]) -> list[EngineResponse]:
        hits: list[Hit] = [{"_index": INDEX, "sort": [key]} for key in self.keys]
        if self.is_between:
            self.keys, self.number, self.is_between = ["a", "b"], 2, False
            await self.another()
        return [self.revision() if body is REVISION_REQUEST else {"hits": {"hits": hits}} for body in bodies]

    async def nothing(self) -> None:
        """No other search is under way."""

    def revision(self) -> Any:
        return {"aggregations": {"indices": {"buckets": [{"key": INDEX, "last": {"value": self.number}}]}}}


def lookups() -> Lookups:
    return Lookups(FIELDS, [{}], [Lookup("product", {"match": {"text": "zorkmid"}}, is_scored=False, is_sample=False)])


async def test_a_lookup_is_remembered_from_its_third_time_on() -> None:
    engine = Engine()
    search = ProductSearch(engine.ask, FIELDS)
    for _ in range(3):
        assert search.cached(lookups(), PRODUCTS) is None
        await search.find(lookups(), PRODUCTS, needs_revision=True)
    cached = search.cached(lookups(), PRODUCTS)
    assert cached is not None
    assert cached.entries[0].size == 1
    assert search.is_current(cached, engine.revision())


async def test_a_lookup_that_began_before_a_product_came_is_not_remembered_as_after_it() -> None:
    engine = Engine()
    search = ProductSearch(engine.ask, FIELDS)
    for _ in range(2):
        await search.find(lookups(), PRODUCTS, needs_revision=True)

    async def another_search_reads_it() -> None:
        before = await search.find(lookups(), PRODUCTS, needs_revision=True)
        assert before.entries[0].size == 2

    engine.is_between, engine.another = True, another_search_reads_it
    await search.find(lookups(), PRODUCTS, needs_revision=True)
    assert search.cached(lookups(), PRODUCTS) is None
    await search.find(lookups(), PRODUCTS, needs_revision=True)
    cached = search.cached(lookups(), PRODUCTS)
    assert cached is not None
    assert cached.entries[0].size == 2
