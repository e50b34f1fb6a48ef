"""The doctor's checks of what only two indices can have wrong, without an engine."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from indexer.doctor.checks import check_altered, check_named, check_platform
from indexer.doctor.facts import IndexFacts, LockFacts
from indexer.doctor.findings import Action, Code, Finding, Repair, Severity
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord
from indexer.products.comparison import AlteredProducts, NamedProducts
from mappings.names import products_of
from tests.support.indexer.facts import ALIAS, an_index, platform_facts, products_for, set_to

SERVING = an_index(2, ALIAS)
PRODUCTS = products_for(SERVING)
NAMED = products_of(ALIAS)


def findings_of(
    *indices: IndexFacts, products: tuple[IndexFacts, ...], locks: tuple[LockFacts, ...] = ()
) -> list[Finding]:
    facts = platform_facts(*indices, products=products, locks=locks)
    return list(check_platform(facts))


def with_aliases(index: IndexFacts, *aliases: str) -> IndexFacts:
    return replace(index, aliases=frozenset(aliases))


def test_nothing_is_said_of_listings_with_their_products() -> None:
    assert findings_of(SERVING, products=(PRODUCTS,)) == []
    assert findings_of(an_index(1), SERVING, products=(products_for(an_index(1)), PRODUCTS)) == []


def test_listings_that_serve_without_products_are_an_error() -> None:
    (missing,) = findings_of(SERVING, products=())
    assert (missing.code, missing.severity, missing.subject) == (Code.PRODUCTS_MISSING, Severity.ERROR, SERVING.name)
    assert missing.repair is None
    assert missing.remedy.startswith("gear-indexer load")


@pytest.mark.parametrize("case", ["nothing", "another", "both"])
def test_the_alias_of_the_products_is_that_of_the_serving_ones_alone(case: str) -> None:
    other = products_for(an_index(1))
    products = {
        "nothing": (other, with_aliases(PRODUCTS)),
        "another": (with_aliases(other, NAMED), with_aliases(PRODUCTS)),
        "both": (with_aliases(other, NAMED), PRODUCTS),
    }[case]
    (alias,) = findings_of(an_index(1), SERVING, products=products)
    assert (alias.code, alias.severity, alias.subject) == (Code.PRODUCTS_ALIAS, Severity.ERROR, NAMED)
    assert alias.repair == Repair(Action.POINT_PRODUCTS, SERVING.name)


def test_an_index_with_the_name_of_the_alias_keeps_every_load_from_serving() -> None:
    taken = replace(PRODUCTS, name=NAMED, generation=None, aliases=frozenset(), items=0)
    (empty, *_) = findings_of(SERVING, products=(PRODUCTS, taken))
    assert (empty.code, empty.repair) == (Code.ALIAS_IS_INDEX, Repair(Action.REMOVE_EMPTY_INDEX, NAMED))


def test_the_settings_and_fields_of_products_are_checked_as_those_of_listings() -> None:
    for settings, code, sentence in (
        ({"refresh_interval": "-1"}, Code.REFRESH, "texts never find new products"),
        ({"blocks__write": "true"}, Code.BLOCKED, "no item of a new product can be put on offer"),
        ({"max_result_window": "10"}, Code.RESULT_WINDOW, "instead of 100000"),
        ({"number_of_shards": "3"}, Code.SETTINGS, "other settings than products.json"),
        ({"analysis__tokenizer__words__pattern": "x"}, Code.MAPPING_DRIFT, "not what products.json describes"),
    ):
        (finding,) = findings_of(SERVING, products=(set_to(PRODUCTS, **settings),))
        assert (finding.code, finding.subject) == (code, PRODUCTS.name)
        assert sentence in finding.message
    properties = {**PRODUCTS.mappings["properties"], "new": {"type": "long"}}
    (drift,) = findings_of(
        SERVING, products=(replace(PRODUCTS, mappings={**PRODUCTS.mappings, "properties": properties}),)
    )
    assert "fields unexpected new" in drift.message


def test_closed_products_are_an_error() -> None:
    (closed,) = findings_of(SERVING, products=(set_to(PRODUCTS, verified_before_close="true"),))
    assert (closed.code, closed.subject) == (Code.CLOSED, PRODUCTS.name)
    assert "every search with a text fails" in closed.message


def test_of_several_generations_one_with_its_products_should_serve() -> None:
    (missing,) = findings_of(an_index(1), an_index(2), products=(products_for(an_index(1)),))
    assert (missing.code, missing.repair) == (Code.ALIAS_MISSING, Repair(Action.SERVE, an_index(1).name))
    (alone,) = findings_of(an_index(1), products=())
    assert alone.repair == Repair(Action.SERVE, an_index(1).name), "there is no better one"


def test_sizes_are_those_of_both_indices() -> None:
    old = [an_index(day, bytes=10) for day in (1, 3)]
    products = tuple(products_for(index, bytes=90) for index in (*old, SERVING))
    (spare,) = findings_of(*old, SERVING, products=products)
    assert "the others take 100 bytes" in spare.message
    unfinished = an_index(3, f"{an_index(3).name}-loading", bytes=10)
    (dead,) = findings_of(SERVING, unfinished, products=(PRODUCTS, products_for(unfinished, bytes=90)))
    assert "(100 bytes) was never finished" in dead.message


def a_lock(alive: bool) -> LockFacts:
    now = datetime.now(UTC).isoformat()
    owner = Owner(id="a", host="elsewhere", pid=7, machine="another", started="1")
    return LockFacts(LockRecord(owner=owner, command="load", index=None, since=now, heartbeat=now, expiry=60), alive)


def test_products_without_listings_are_left_over_unless_their_load_runs() -> None:
    orphan = products_for(an_index(3))
    owned = replace(orphan, mappings={**orphan.mappings, "_meta": {**orphan.mappings["_meta"], "owner": "a"}})
    for index in (orphan, owned):
        (left,) = findings_of(SERVING, products=(PRODUCTS, index))
        assert (left.code, left.severity, left.subject) == (Code.PRODUCTS_ORPHANED, Severity.WARNING, orphan.name)
        assert left.repair == Repair(Action.REMOVE_PRODUCTS, orphan.name)
    assert findings_of(SERVING, products=(PRODUCTS, owned), locks=(a_lock(True),)) == [], "it makes the listings next"
    codes = [finding.code for finding in findings_of(SERVING, products=(PRODUCTS, owned), locks=(a_lock(False),))]
    assert codes == [Code.STALE_LOCK, Code.PRODUCTS_ORPHANED]


def test_products_that_listings_name_and_that_are_missing_are_counted() -> None:
    assert list(check_named(730, "x", NamedProducts(named=5, missing=0, unnamed=0, stored=5))) == []
    (missing,) = check_named(730, "x", NamedProducts(named=36_000, missing=2, unnamed=0, stored=35_998))
    assert (missing.code, missing.severity, missing.repair) == (Code.PRODUCTS_INCOMPLETE, Severity.ERROR, None)
    assert "2 of the 36,000 products" in missing.message
    (unnamed,) = check_named(730, "x", NamedProducts(named=5, missing=0, unnamed=1, stored=5))
    assert "1 items name no product" in unnamed.message


def test_products_that_no_item_needs_are_reported_once_they_are_many() -> None:
    """As where a catalogue is only changed, never loaded again."""
    few = [NamedProducts(named=5, missing=0, unnamed=0, stored=10_005), NamedProducts(20_000, 0, 0, 40_000)]
    assert [list(check_named(730, "x", named)) for named in few] == [[], []]
    (unused,) = check_named(730, "x", NamedProducts(named=20_000, missing=0, unnamed=0, stored=40_001))
    assert (unused.code, unused.severity, unused.repair) == (Code.PRODUCTS_UNUSED, Severity.WARNING, None)
    assert "20,001 of the 40,001" in unused.message
    *_, unused = check_named(730, "x", NamedProducts(named=5, missing=2, unnamed=0, stored=10_004))
    assert "10,001 of the 10,004" in unused.message, "those that are missing are not there"


def test_products_that_were_altered_are_counted_and_one_is_named() -> None:
    assert list(check_altered(730, "x", AlteredProducts(0, None))) == []
    (altered,) = check_altered(730, "x", AlteredProducts(1_200, "G6EJtFT2JiA4tCIO"))
    assert (altered.code, altered.severity, altered.repair) == (Code.PRODUCTS_ALTERED, Severity.ERROR, None)
    assert "1,200 products or other" in altered.message
    assert "such as G6EJtFT2JiA4tCIO" in altered.message
    assert altered.remedy == "gear-indexer load FILE... --platform 730"
