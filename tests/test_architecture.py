"""The house rules: what each package may import, the words that are not names, and the bars that every file keeps.

Each rule is one test that lists all offenders; every file is parsed once.
"""

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, get_type_hints

import pytest

from api.services import Services
from mappings.fields import FILTERS
from tests.import_rules import FOLDERS_MAY_ALSO_IMPORT, FOLDERS_MAY_IMPORT, IMPORTED_ONLY_BY, MAY_IMPORT
from tests.support.scheduling import LONGEST, QUICK, SLOW
from tests.support.source_code import (
    FILES,
    MODULES,
    PACKAGES,
    ROOT,
    SUPPRESSION,
    TEST_FILES,
    folders_of,
    framework_free_modules,
    functions,
    imported,
    module_of,
    nodes_of,
    none,
    own_module,
    pure_modules,
    shown,
    siblings,
    suppressions,
    text_of,
    top_of,
    tops_of,
    tree_of,
    way_to,
)

MAX_FILES: Final = 15  # of Python in a folder, its __init__ not counted, and of other files beside them
MAX_LINES: Final = 400
MAX_FUNCTION_LINES: Final = 60
USUAL_FUNCTION_LINES: Final = 33
MAX_SUPPRESSIONS: Final = 2 / 1000  # a line

WEB_AND_DATABASES: Final = {
    *("fastapi", "starlette", "uvicorn", "aiohttp", "httpx"),
    *("opensearchpy", "sqlalchemy", "asyncpg", "aiosqlite", "structlog"),
}

# file: why it reads the environment although it is no settings class
READS_ENVIRONMENT: Final = {
    "bench/peers/checkout.py": "it runs commands and services in an environment like its own but for their settings",
    "api/cli/main.py": "it hands --host and --port to its workers, whose settings are built from the environment",
}

# file: why it catches every exception
CATCHES_ALL: Final = {
    "api/search/price_desc.py": "a search does without a histogram of prices, and reports the engine's error itself",
    "api/changes/tail.py": "a question that fails is its own readers' alone: they get the error, the others wait on",
    "api/saved_searches/compiled.py": "a saved search that cannot be read is logged; the others are matched",
    "api/saved_searches/matcher.py": "a saved search that fails is logged and says so; the others are matched",
    "api/search/response_cache.py": "a cache fails open: without a revision the response is computed",
    "api/background/workers.py": "the edge of a background task: whatever fails is logged, and the next run follows",
    "api/background/failing_rows.py": "a row that fails is logged, and the next one follows",
    "mappings/transport/nodes.py": "a probe that fails is logged and made again: its node would stay out for ever",
    "api/webhooks/dispatcher.py": "an unexpected exception counts as an attempt, so that none repeats for ever",
}

# file: why it lists the filters beside their table
LISTS_FILTERS: Final = {
    "api/conform/search_checks.py": "it holds a service to the contract, and must see a table that changed by mistake",
}

# folder: why it may have many files
MANY_FILES: Final = {
    "store/migrations/versions": "one a change, for ever",
    "bench/relevance/sets/in_role": "one a set of judged texts",
    "bench/relevance/sets/published": "one a set of judged texts",
    "mappings/platforms/730": "one a language",
    "api/templates/order_words": "one a language",
    "api/explore/static/languages": "one a language",
    "api/explore/static/operations/languages": "one a language",
}

# What tests break things with.
FAULTS: Final = re.compile(r"\bwire\.rule\b|\bTcpProxy\b|\banswering\(|\bSIGKILL\b")
# file or folder: why its tests do so outside tests/faults
FAULTS_ELSEWHERE: Final = {
    "tests/unit/": "the wire answers in the place of an engine, which there is none of",
    "tests/clients/test_follow_postgres.py": "it runs where the examples and what they need are",
}


def test_packages_import_only_what_they_may_know() -> None:
    for file in FILES:
        allowed, why = MAY_IMPORT[top_of(file)]
        allowed = allowed | FOLDERS_MAY_ALSO_IMPORT.get(shown(file.parent), (set(), ""))[0]
        others = tops_of(file) - {top_of(file), *allowed}
        assert not others, f"{shown(file)} must not import {others}: {why}"


def test_folders_import_only_what_they_may_know() -> None:
    offenders = [
        f"{package}.{folder} must not import {sorted(others)}: {why}"
        for package, folders in FOLDERS_MAY_IMPORT.items()
        for folder, (allowed, why) in folders.items()
        if (others := siblings(package).get(folder, set()) & folders_of(package) - allowed)
    ]
    none(offenders, "the other way round, or through a leaf that both may know")


def test_each_folder_says_what_it_may_import() -> None:
    packages = {package for package, file in MODULES.items() if file.name == "__init__.py"}
    missing = {
        f"{package}.{folder}"
        for package in packages
        for folder in folders_of(package) - FOLDERS_MAY_IMPORT.get(package, {}).keys()
        if len(folders_of(package)) > 1
    }
    none(missing, "it has no row in FOLDERS_MAY_IMPORT")


def test_what_is_allowed_is_needed() -> None:
    """So that a rule says what is imported, and no more."""
    pairs = {(place, top) for file in FILES for top in tops_of(file) for place in (shown(file.parent), top_of(file))}
    rules = (MAY_IMPORT | FOLDERS_MAY_ALSO_IMPORT).items()
    offenders = [
        f"{place}: {other}" for place, (allowed, _) in rules for other in allowed if (place, other) not in pairs
    ]
    offenders += [
        f"{package}.{folder}: {other}"
        for package, folders in FOLDERS_MAY_IMPORT.items()
        for folder, (allowed, _) in folders.items()
        for other in allowed - siblings(package).get(folder, set())
    ]
    none(offenders, "nothing imports so: remove it from tests/import_rules.py")


def test_no_siblings_import_in_a_circle() -> None:
    """The folders and the modules of each package alike."""
    packages = {package for package, file in MODULES.items() if file.name == "__init__.py"}
    cycles = []
    for package in packages:
        try:
            TopologicalSorter(siblings(package)).prepare()
        except CycleError as error:
            cycles.append(f"{package}: {' ← '.join(error.args[1])}")
    none(cycles, "import what both need from a leaf")


def test_what_is_built_in_one_place_does_not_know_that_place() -> None:
    offenders = [
        f"{shown(file)} must not import {module}: {why}"
        for module, (allowed, why) in IMPORTED_ONLY_BY.items()
        for file in FILES
        if module in {own_module(name) for name in imported(file)} and module_of(file) not in allowed
    ]
    none(offenders, "only the top of a package knows what builds its parts")


def test_an_app_has_one_object_of_each_type_that_routes_name() -> None:
    types = [each.__name__ for each in get_type_hints(Services).values()]
    named = {
        ast.unparse(node.args[-1])
        for file in FILES
        if shown(file) != "api/http/dependencies.py"
        for node in nodes_of(file)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("service", "service_of")
    }
    assert len(named) > 10
    assert named <= set(types)
    assert len(set(types)) == len(types)


def test_what_is_called_pure_or_framework_free_reaches_no_framework() -> None:
    """By every chain of imports, so that it is tested without a server; `make coverage` checks that it is."""
    free = framework_free_modules()
    assert len(free) > 30
    ways = {module: way_to(module, WEB_AND_DATABASES) for module in free}
    none((" → ".join(way) for way in ways.values() if way), "it reaches a framework, a client or a driver")


def test_what_is_called_pure_waits_for_nothing() -> None:
    """A protocol of what others wait for may be in it."""
    waiting = {
        module
        for module in pure_modules()
        for node in nodes_of(MODULES[module])
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)
    }
    none(waiting, "it awaits an answer, so it is no function of its arguments: call it framework-free")


def test_the_indexer_knows_no_tokens() -> None:
    readers = [
        shown(file)
        for file in FILES
        if file.is_relative_to(ROOT / "indexer") and any(name.startswith("store.auth") for name in imported(file))
    ]
    none(readers, "loading needs nobody's token")


def test_only_one_place_builds_clients_of_the_engine() -> None:
    builders = {
        shown(file)
        for file in FILES
        for node in nodes_of(file)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("OpenSearch", "AsyncOpenSearch")
    }
    # the plain peer of the benchmarks does it as its own authors would
    assert builders - {"bench/peers/plain.py"} == {"mappings/connection.py"}, (
        "else address and password are read in two ways"
    )


def test_sql_is_in_the_store_alone() -> None:
    """Others may name the type of a connection that the store opened for them."""
    others = {
        f"{shown(file)}: {name}"
        for file in FILES
        if not file.is_relative_to(ROOT / "store")
        for name in imported(file)
        if name.partition(".")[0] in ("sqlalchemy", "alembic") and not name.endswith(".AsyncConnection")
    }
    none(others, "a transaction has one owner")


def test_filters_are_listed_in_one_table() -> None:
    """Whatever else works with filters reads the table, so that a new one is a row of it."""
    filters = {row.name for row in FILTERS}
    scripts = {file for file in ROOT.joinpath("api").rglob("*.js") if "vendor" not in file.parts}
    named = {shown(file): filters & set(re.findall(r'"(\w+)"', text_of(file))) for file in scripts}
    for file in FILES:
        if not file.is_relative_to(ROOT / "bench"):
            strings = (node.value for node in nodes_of(file) if isinstance(node, ast.Constant))
            named[shown(file)] = {text for text in strings if isinstance(text, str) and text in filters}
    lists = {file for file, names in named.items() if len(names) > len(filters) / 2}
    assert "mappings/fields.py" in lists
    none(lists - LISTS_FILTERS.keys() - {"mappings/fields.py"}, "take them from FILTERS in mappings/fields.py")


def test_no_test_file_imports_another() -> None:
    pairs = [
        f"{shown(file)} imports {name}"
        for file in TEST_FILES
        for name in imported(file)
        if re.search(r"^tests\..*\b(test_|conftest)", name)
    ]
    none(pairs, "what several tests use is in tests/support")


def test_fault_tests_are_in_one_folder() -> None:
    elsewhere = [
        shown(file)
        for file in TEST_FILES
        if file.name.startswith("test_") and not shown(file).startswith(("tests/faults/", *FAULTS_ELSEWHERE))
        if FAULTS.search(text_of(file))
    ]
    none(elsewhere, "what cuts wires and kills processes is in tests/faults")


def test_no_folder_is_crowded() -> None:
    """Neither by modules nor by other files, such as scripts, texts and data."""
    others = [file for package in PACKAGES for file in (ROOT / package).rglob("*.*") if file.is_file()]
    modules = Counter(shown(file.parent) for file in [*FILES, *TEST_FILES] if file.name != "__init__.py")
    rest = Counter(shown(file.parent) for file in others if file.suffix not in (".py", ".pyc"))
    crowded = {name for counts in (modules, rest) for name, count in counts.items() if count > MAX_FILES}
    none(crowded - MANY_FILES.keys(), f"more than {MAX_FILES} files")


def test_the_longest_test_files_are_still_there() -> None:
    files = {shown(file) for file in TEST_FILES}
    none(set(LONGEST) - files, "tests/support/scheduling.py names it")
    none([start for start in (*SLOW, *QUICK) if not any(file.startswith(start) for file in files)], "it names it")


def test_every_folder_says_what_goes_in() -> None:
    folders = {file.parent for file in [*FILES, *TEST_FILES]}
    silent = [folder for folder in folders if not ast.get_docstring(tree_of(folder / "__init__.py"))]
    none(map(shown, silent), "its __init__.py has no docstring")


def test_no_file_is_too_long_to_read_at_once() -> None:
    long = [shown(file) for file in [*FILES, *TEST_FILES] if len(text_of(file).splitlines()) > MAX_LINES]
    none(long, f"longer than {MAX_LINES} lines")


def test_no_function_is_too_long_to_read_at_once() -> None:
    long = [
        f"{shown(file)}: {name}"
        for file in [*FILES, *TEST_FILES]
        for name, lines in functions(file)
        if lines > MAX_FUNCTION_LINES
    ]
    none(long, f"longer than {MAX_FUNCTION_LINES} lines")


def test_nearly_all_functions_are_short() -> None:
    lengths = [lines for file in FILES for _, lines in functions(file)]
    short = sum(lines < USUAL_FUNCTION_LINES for lines in lengths)
    assert short / len(lengths) >= 0.95


def test_the_environment_is_read_by_settings_alone() -> None:
    readers = [
        shown(file)
        for file in FILES
        if shown(file) not in READS_ENVIRONMENT
        and re.search(r"\bos\.environ|\bgetenv\b|\benvironb?\b(?=[.\[(])", text_of(file))
    ]
    none(readers, "read it in the settings class and pass it down")


def test_no_error_is_caught_unseen() -> None:
    broad = [
        f"{shown(file)}:{node.lineno}"
        for file in FILES
        if shown(file) not in CATCHES_ALL
        for node in nodes_of(file)
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not raises_again(node)
    ]
    none(broad, "name the errors that are meant")


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches every exception."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or getattr(kind, "id", "") in ("Exception", "BaseException") for kind in types)


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler that cleans up after anything passes it on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@pytest.mark.parametrize("files", [FILES, TEST_FILES], ids=["packages", "tests"])
def test_suppressions_are_few_and_have_reasons(files: list[Path]) -> None:
    lines = sum(len(text_of(file).splitlines()) for file in files)
    comments = [comment for file in files for comment in suppressions(file)]
    assert len(comments) / lines <= MAX_SUPPRESSIONS, "\n".join(comments)
    for comment in comments:
        assert len(SUPPRESSION.sub("", comment).split()) > 2, f"say why: {comment}"
