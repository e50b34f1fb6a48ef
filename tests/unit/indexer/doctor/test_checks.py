"""The doctor's checks turn facts into findings, without an engine."""

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from indexer.doctor import cluster, indices
from indexer.doctor.checks import check_platform
from indexer.doctor.facts import EngineFacts, IndexFacts, LockFacts, Template, have_room, required_free
from indexer.doctor.findings import Action, Code, Finding, Repair, Severity
from indexer.doctor.orders import check_disagreement, check_late, database_fault
from indexer.engine.drift import analysis_differences, defined_listings, field_differences
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord
from indexer.orders.agreement import Disagreement
from indexer.orders.claims import Tally
from store.connection.errors import NOT_MIGRATED
from tests.support.indexer.facts import ALIAS, DEFINITION, LISTINGS, an_index, platform_facts, set_to

GB = 2**30
ENGINE = EngineFacts(
    distribution="opensearch",
    version="3.6.0",
    data_nodes=1,
    has_room=True,
    auto_create="true",
    templates=(),
)


def platform_findings(*indices: IndexFacts, **changed: Any) -> list[Finding]:
    return list(check_platform(platform_facts(*indices, **changed)))


def index_findings(index: IndexFacts, *, data_nodes: int = 1, room: bool = True) -> list[Finding]:
    return list(indices.check_index(platform_facts(data_nodes=data_nodes, room=room), index, LISTINGS))


def test_nothing_is_said_of_what_is_in_order() -> None:
    assert platform_findings() == []
    assert platform_findings(an_index(1), an_index(2, ALIAS)) == []
    assert index_findings(set_to(an_index(1, ALIAS), number_of_replicas="1"), data_nodes=3) == []
    assert list(cluster.check_version(ENGINE)) == []


def test_of_several_generations_the_newest_with_this_definition_should_serve() -> None:
    other = an_index(3, ALIAS, mappings={**an_index(3).mappings, "_meta": {"fingerprint": "00000000"}})
    several = platform_findings(an_index(1, ALIAS), an_index(2, ALIAS), other)[0]
    assert (several.code, several.repair) == (Code.ALIAS_SEVERAL, Repair(Action.SERVE, an_index(2).name))
    assert "newest with this version's definition" in several.message
    missing = platform_findings(an_index(1), replace(other, aliases=frozenset()))[0]
    assert (missing.code, missing.repair) == (Code.ALIAS_MISSING, Repair(Action.SERVE, an_index(1).name))
    only_other = platform_findings(replace(other, aliases=frozenset()))[0]
    assert "none has this version's definition" in only_other.message


def test_what_is_being_filled_never_serves() -> None:
    loading = an_index(2, f"{an_index(2).name}-loading")
    assert [finding.code for finding in platform_findings(loading)] == [Code.UNFINISHED_LOAD]
    (missing, _) = platform_findings(an_index(1), loading)
    assert missing.repair == Repair(Action.SERVE, an_index(1).name)


def test_what_nobody_fills_is_known_by_its_alias_or_its_settings() -> None:
    by_hand = an_index(2, f"{an_index(2).name}-loading", mappings={})
    for unfinished in (by_hand, set_to(an_index(2), refresh_interval="-1")):
        (dead,) = platform_findings(an_index(1, ALIAS), unfinished)
        assert dead.repair == Repair(Action.REMOVE_GENERATION, unfinished.name)


def test_spare_generations_are_those_that_prune_would_remove() -> None:
    oldest = an_index(1, ALIAS, bytes=1_000)
    rest = [an_index(day, bytes=10**day) for day in (2, 3, 4)]
    (finding,) = platform_findings(oldest, *rest, keep=2)
    assert "the others take 1.1 kB" in finding.message
    assert finding.repair is None
    assert platform_findings(oldest, *rest, keep=4) == []


@pytest.mark.parametrize(
    ("settings", "code", "severity", "repair"),
    [
        ({"refresh_interval": "-1"}, Code.REFRESH, Severity.ERROR, {"refresh_interval": "1s"}),
        ({"refresh_interval": "5s"}, Code.REFRESH, Severity.WARNING, {"refresh_interval": "1s"}),
        ({"max_result_window": "100"}, Code.RESULT_WINDOW, Severity.ERROR, {"max_result_window": 50_000}),
        ({"max_result_window": "99999"}, Code.RESULT_WINDOW, Severity.WARNING, {"max_result_window": 50_000}),
        ({"auto_expand_replicas": "false"}, Code.REPLICAS, Severity.WARNING, {"auto_expand_replicas": "0-1"}),
        ({"gc_deletes": "1h"}, Code.SETTINGS, Severity.WARNING, {"gc_deletes": "10m"}),
        ({"number_of_shards": "2"}, Code.SETTINGS, Severity.WARNING, None),
        ({"analysis__char_filter__one_blank__pattern": "x"}, Code.MAPPING_DRIFT, Severity.ERROR, None),
    ],
    ids=lambda value: str(value) if isinstance(value, Code) else "",
)
def test_each_setting_has_its_finding(
    settings: dict[str, str], code: Code, severity: Severity, repair: dict[str, Any] | None
) -> None:
    index = set_to(an_index(1, ALIAS), **settings)
    (finding,) = index_findings(index)
    assert (finding.code, finding.severity) == (code, severity)
    assert finding.repair == (None if repair is None else Repair(Action.PUT_SETTINGS, index.name, repair))


def test_too_few_copies_are_an_error_where_more_are_possible() -> None:
    (switched_off,) = index_findings(set_to(an_index(1), auto_expand_replicas="false"), data_nodes=2)
    assert (switched_off.severity, switched_off.repair) == (
        Severity.ERROR,
        Repair(Action.PUT_SETTINGS, an_index(1).name, {"auto_expand_replicas": "0-1"}),
    )
    (held_back,) = index_findings(an_index(1), data_nodes=2)
    assert (held_back.severity, held_back.repair) == (Severity.WARNING, None)
    assert "rule of allocation" in held_back.message


def test_a_block_is_lifted_only_where_there_is_room() -> None:
    index = set_to(an_index(1, ALIAS), blocks__read_only_allow_delete="true", blocks__write="false")
    (with_room,) = index_findings(index)
    assert with_room.repair == Repair(Action.PUT_SETTINGS, index.name, {"blocks.read_only_allow_delete": None})
    (without,) = index_findings(index, room=False)
    assert without.repair is None


def test_there_is_room_where_every_disk_is_below_the_watermark() -> None:
    assert have_room([(100, 50), (100, 16)], "85%") is True
    assert have_room([(100, 50), (100, 14)], "85%") is False
    assert have_room([], "85%") is False, "unknown is not below"


def test_drift_is_named_by_field() -> None:
    live = deepcopy(LISTINGS.mappings)
    live["properties"]["new"] = {"type": "long"}
    live["properties"]["name"]["fields"].pop("folded")
    live["properties"]["price"]["type"] = "integer"
    live["dynamic"] = "true"
    differences = field_differences(LISTINGS, live)
    assert (differences.unexpected, differences.missing) == (("new",), ("name.folded",))
    assert differences.changed == (
        "(dynamic) (dynamic true instead of strict)",
        "price (type integer instead of long)",
    )
    assert not field_differences(LISTINGS, LISTINGS.mappings)
    assert not analysis_differences(LISTINGS, an_index(1).settings)


@pytest.mark.parametrize(
    ("mark", "free"),
    [("85%", 15.0), ("0.85", 15.0), ("100%", 0.0), ("10b", 10.0), ("1.5kb", 1536.0), ("2GB", 2.0 * GB)],
)
def test_watermarks_are_shares_or_sizes(mark: str, free: float) -> None:
    assert required_free(mark, 100) == pytest.approx(free)


def test_a_text_that_is_no_watermark_is_refused() -> None:
    with pytest.raises(ValueError, match="no watermark"):
        required_free("much", 100)


@pytest.mark.parametrize(
    ("setting", "creates"),
    [
        ("true", True),
        ("false", False),
        ("-gear-*,+*", False),
        ("+*,-gear-*", True),
        ("logs-*", False),
        ("gear-7?0", False),
        ("logs-*,gear-*", True),
    ],
)
def test_the_first_pattern_that_fits_decides_on_auto_creation(setting: str, creates: bool) -> None:
    assert cluster.may_create(setting, ALIAS) is creates
    findings = cluster.check_auto_create(replace(ENGINE, auto_create=setting), platform_facts())
    assert [finding.code for finding in findings] == [Code.AUTO_CREATE] * creates
    assert list(cluster.check_auto_create(ENGINE, platform_facts(an_index(1, ALIAS)))) == [], "the name is taken"


def test_templates_are_reported_where_they_catch_our_names() -> None:
    templates = tuple(
        Template(name, f"_template/{name}", (name,))
        for name in ("gear-*", "*", "gear-730-2*", "*-products", "logs-*", "gear-440")
    )
    findings = cluster.check_templates(replace(ENGINE, templates=templates), platform_facts())
    assert [finding.subject for finding in findings] == ["gear-*", "*", "gear-730-2*", "*-products"]


@pytest.mark.parametrize(("distribution", "version"), [("opensearch", "2.19.0"), ("elasticsearch", "8.1.0")])
def test_other_engines_are_reported(distribution: str, version: str) -> None:
    (finding,) = cluster.check_version(replace(ENGINE, distribution=distribution, version=version))
    assert (finding.code, finding.severity) == (Code.ENGINE_VERSION, Severity.WARNING)


def test_orders_and_index_are_distinguished_both_ways() -> None:
    disagreement = Disagreement(offered=Tally(), hidden=Tally())
    assert list(check_disagreement(730, "x", 10, disagreement)) == []
    disagreement.offered.add([1, 2, 3])
    disagreement.offered.add([4, 5, 6, 7])
    disagreement.hidden.add([9])
    offered, hidden = check_disagreement(730, "x", 10, disagreement)
    assert offered.message.startswith("7 items")
    assert offered.message.endswith(": 1, 2, 3, 4, 5, …")
    assert (hidden.code, hidden.remedy) == (Code.FREE_BUT_HIDDEN, "gear-api reconcile --platform 730")
    assert ": 9; after a restore" in hidden.message


def test_late_index_updates_say_since_when() -> None:
    now = datetime.now(UTC)
    assert list(check_late(730, 0, None, now)) == []
    (finding,) = check_late(730, 1200, now - timedelta(minutes=90), now)
    assert finding.message.startswith("1,200 items were ordered or let go up to 90 minutes ago")


def test_a_database_that_cannot_be_asked_says_which_command_helps() -> None:
    assert database_fault(NOT_MIGRATED).remedy == "gear-api migrate"
    assert database_fault("its disk is full").code == Code.DATABASE_UNREACHABLE


def test_an_alias_that_is_an_index_is_removed_only_if_it_is_empty() -> None:
    written = replace(an_index(1), name=ALIAS, generation=None, items=3)
    (full,) = platform_findings(written)
    assert (full.code, full.repair) == (Code.ALIAS_IS_INDEX, None)
    (empty,) = platform_findings(replace(written, items=0))
    assert empty.repair == Repair(Action.REMOVE_EMPTY_INDEX, ALIAS)


def test_what_serves_without_being_ours_or_open_is_an_error() -> None:
    foreign = replace(an_index(1, ALIAS), name="products", generation=None)
    assert [(finding.code, finding.subject) for finding in platform_findings(foreign)] == [
        (Code.ALIAS_FOREIGN, "products")
    ]
    closed = set_to(an_index(1, ALIAS), verified_before_close="true")
    assert [finding.code for finding in platform_findings(closed)] == [Code.CLOSED]


@pytest.mark.parametrize(
    ("index", "comparable"),
    [
        (an_index(1, ALIAS), True),
        (set_to(an_index(1, ALIAS), verified_before_close="true"), False),
        (an_index(1), False),
    ],
)
def test_orders_are_compared_with_the_one_index_that_serves(index: IndexFacts, comparable: bool) -> None:
    assert platform_facts(index).comparable == (index if comparable else None)


def test_an_index_of_another_definition_is_named_with_both_fingerprints() -> None:
    (drift,) = index_findings(an_index(1, mappings={**an_index(1).mappings, "_meta": {"fingerprint": "00000000"}}))
    assert f"made with definition 00000000, this version's is {DEFINITION.fingerprint}" in drift.message


def test_an_index_with_another_mapping_is_named_with_its_fields() -> None:
    mappings = an_index(1).mappings
    properties = {**mappings["properties"], "new": {"type": "long"}}
    (drift,) = index_findings(an_index(1, mappings={**mappings, "properties": properties}))
    assert (drift.code, drift.severity) == (Code.MAPPING_DRIFT, Severity.ERROR)
    assert "fields unexpected new" in drift.message


def test_a_definition_may_fix_the_number_of_copies() -> None:
    defined = DEFINITION.body["settings"]["index"]
    index = {name: value for name, value in defined.items() if name != "auto_expand_replicas"}
    settings = {**DEFINITION.body["settings"], "index": {**index, "number_of_replicas": 1}}
    fixed = defined_listings(replace(DEFINITION, body={**DEFINITION.body, "settings": settings}))
    few = set_to(an_index(1), number_of_replicas="0")
    (finding,) = indices.check_index(platform_facts(data_nodes=3, room=True), few, fixed)
    assert finding.repair == Repair(Action.PUT_SETTINGS, an_index(1).name, {"number_of_replicas": 1})
    assert "0 copies where 1 are possible" in finding.message


def a_lock(owner: Owner, heartbeat: datetime, index: str | None = None) -> LockRecord:
    beat = heartbeat.isoformat()
    return LockRecord(owner=owner, command="load", index=index, since=beat, heartbeat=beat, expiry=60)


def test_a_load_under_a_lock_is_dead_when_its_owner_is() -> None:
    owner = Owner(id="a", host="elsewhere", pid=7, machine="another", started="1")
    unfinished = an_index(
        2, mappings={**an_index(2).mappings, "_meta": {**an_index(2).mappings["_meta"], "owner": "a"}}
    )
    unfinished = set_to(unfinished, refresh_interval="-1")
    now = datetime.now(UTC)

    def codes(*locks: LockFacts) -> list[Code]:
        facts = platform_facts(an_index(1, ALIAS), unfinished, locks=locks)
        return [finding.code for finding in check_platform(facts)]

    dead = [Code.STALE_LOCK, Code.UNFINISHED_LOAD]
    assert codes() == dead[1:]
    assert codes(LockFacts(a_lock(owner, now, "gear-x"), True)) == []
    assert codes(LockFacts(a_lock(owner, now, "gear-x"), None)) == [], "it was heard of a moment ago"
    assert codes(LockFacts(a_lock(owner, now - timedelta(hours=2), "gear-x"), None)) == dead
    assert codes(LockFacts(a_lock(owner, now, "gear-x"), False)) == dead
