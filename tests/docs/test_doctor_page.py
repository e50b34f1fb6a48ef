"""The doctor's page names every finding, and each is caused by a test on a real engine."""

import re
from typing import Final

from indexer.doctor.findings import Code
from tests.docs.pages import DOCS

ROW: Final = re.compile(r"^\| `([a-z-]+)` \|", re.MULTILINE)
REAL: Final = [DOCS.parent / "tests" / kind / "indexer" / "doctor" for kind in ("real", "faults")]
# What makes each finding.
TESTS: Final[dict[Code, tuple[str, ...]]] = {
    Code.ENGINE_UNREACHABLE: ("test_an_engine_that_is_away_is_a_finding",),
    Code.ENGINE_VERSION: ("test_an_engine_that_is_too_old_is_reported",),
    Code.NOT_CHECKED: (
        "test_an_engine_that_fails_in_the_middle_is_not_taken_for_sound",
        "test_what_a_login_may_not_see_is_reported",
    ),
    Code.AUTO_CREATE: ("test_a_stray_write_could_take_the_name_before_the_first_load",),
    Code.TEMPLATE: ("test_a_template_that_catches_our_names_is_reported",),
    Code.ALIAS_IS_INDEX: (
        "test_an_empty_index_in_the_place_of_the_alias_is_removed",
        "test_an_index_in_the_place_of_the_alias_with_documents_is_left_to_people",
    ),
    Code.ALIAS_FOREIGN: ("test_an_alias_on_a_foreign_index_is_reported",),
    Code.ALIAS_SEVERAL: ("test_an_alias_on_two_generations_serves_the_newest_alone",),
    Code.ALIAS_MISSING: ("test_generations_without_an_alias_serve_again",),
    Code.CLOSED: (
        "test_a_closed_index_is_reported_and_an_old_one_may_be_closed",
        "test_closed_products_are_reported",
    ),
    Code.BLOCKED: (
        "test_the_block_of_a_flood_is_lifted_once_there_is_room",
        "test_settings_of_the_serving_index_are_put_right",
    ),
    Code.REFRESH: ("test_settings_of_the_serving_index_are_put_right",),
    Code.REPLICAS: ("test_settings_of_the_serving_index_are_put_right",),
    Code.RESULT_WINDOW: ("test_settings_of_the_serving_index_are_put_right",),
    Code.SETTINGS: (
        "test_an_index_of_another_definition_is_reported",
        "test_the_settings_and_the_mapping_of_products_are_checked_too",
    ),
    Code.MAPPING_DRIFT: (
        "test_a_mapping_that_drifted_is_reported_field_by_field",
        "test_an_index_of_another_definition_is_reported",
        "test_the_settings_and_the_mapping_of_products_are_checked_too",
    ),
    Code.PRODUCTS_MISSING: ("test_listings_without_their_products_are_reported",),
    Code.PRODUCTS_ALIAS: ("test_the_alias_of_the_products_is_put_right",),
    Code.PRODUCTS_INCOMPLETE: (
        "test_products_that_items_name_and_that_are_missing_are_reported",
        "test_an_item_that_names_no_product_is_reported",
    ),
    Code.PRODUCTS_ALTERED: ("test_a_product_that_was_altered_is_reported",),
    Code.PRODUCTS_ORPHANED: (
        "test_products_without_listings_are_removed",
        "test_the_products_of_a_load_that_runs_are_left_alone",
    ),
    Code.PRODUCTS_UNUSED: ("test_products_that_no_item_names_any_more_are_reported",),
    Code.STALE_LOCK: (
        "test_a_lock_of_a_dead_process_is_found_and_given_back",
        "test_a_lock_that_was_not_heard_of_for_long_is_watched_before_it_is_taken",
    ),
    Code.UNFINISHED_LOAD: (
        "test_what_a_dead_load_left_is_known_by_its_lock_at_once",
        "test_what_a_living_load_has_is_left_alone",
    ),
    Code.TOO_MANY_GENERATIONS: ("test_spare_generations_are_reported_with_their_size",),
    Code.DATABASE_UNREACHABLE: ("test_a_database_that_is_none_is_a_finding",),
    Code.DATABASE_UNMIGRATED: ("test_a_database_without_tables_is_a_finding_and_no_file_is_made",),
    Code.SOLD_BUT_OFFERED: ("test_sold_items_that_are_offered_are_hidden",),
    Code.FREE_BUT_HIDDEN: ("test_hidden_items_without_an_order_stay_hidden_until_somebody_decides",),
    Code.INDEX_SYNC_PENDING: ("test_index_updates_that_nobody_publishes_are_an_error",),
}


def test_every_finding_is_on_the_page() -> None:
    page = (DOCS / "doctor.md").read_text(encoding="utf-8")
    codes = ROW.findall(page.partition("\n## Findings\n")[2])
    assert codes == [str(code) for code in Code]


def test_every_finding_has_a_test_on_a_real_engine() -> None:
    assert set(TESTS) == set(Code)
    tests_of_the_doctor = {
        name
        for folder in REAL
        for file in folder.glob("test_*.py")
        for name in re.findall(r"def (test_[a-z0-9_]+)", file.read_text(encoding="utf-8"))
    }
    for code, tests in TESTS.items():
        assert set(tests) <= tests_of_the_doctor, f"{code}: {set(tests) - tests_of_the_doctor} is no test of the doctor"
