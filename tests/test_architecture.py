"""The house rules: what each package may import, the words that are not names, and the bars that every file keeps.

Each rule is one test that lists all offenders; every file is parsed once.
"""

import ast
import re
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, get_type_hints

import pytest

from api.services import Services
from tests.import_rules import FOLDERS_MAY_ALSO_IMPORT, FOLDERS_MAY_IMPORT, IMPORTED_ONLY_BY, MAY_IMPORT, SHARED
from tests.support.scheduling import LONGEST, QUICK, SLOW
from tests.support.source_code import (
    EXAMPLES,
    FILES,
    MODULES,
    PACKAGES,
    ROOT,
    SUPPRESSION,
    TEST_FILES,
    framework_free_modules,
    functions,
    imported,
    module_of,
    names,
    nodes_of,
    own_module,
    pure_modules,
    shown,
    siblings,
    suppressions,
    text_of,
    tree_of,
    way_to,
    words,
)

MAX_FILES: Final = 15  # of Python in a folder, its __init__ not counted
MAX_LINES: Final = 400
MAX_FUNCTION_LINES: Final = 60
USUAL_FUNCTION_LINES: Final = 33
MAX_SUPPRESSIONS: Final = 2 / 1000  # a line

WEB_AND_DATABASES: Final = {
    *("fastapi", "starlette", "uvicorn", "aiohttp", "httpx"),
    *("opensearchpy", "sqlalchemy", "asyncpg", "aiosqlite", "structlog"),
}

# Words of our own where the field has one. None of them is in the name of a file, class, function, parameter, field,
# constant, flag, metric or setting.
PRIVATE_WORDS: Final = re.compile(
    r"kept|unkept|untold|dearest|company|patience|strangers?|noting|masks?|masking|paces?|twins?|overtaken|upkeep"
    r"|answers?|behind|moments?|seen|understand|understood|views?|freeze|frozen|begun|leftovers|questions?|met|senders"
)
PRIVATE_PHRASES: Final = re.compile(
    r"^_?(most|least|MOST|LEAST)_|low_water|LowWater|in_force|left_by_the_dead|known_to_live|once_more|give_?n?_?up|GivenUp|give-up|Rounds|Shares|Notes|Waits"
)
# Participles and pronouns where a value has a noun; as whole names.
VAGUE_NAMES: Final = re.compile(
    r"_?(found|held|kept|asked|told|one|whole|made|chosen|given|about|said|known|gone|meant|begun|seen|met)s?"
)
TELEGRAPHIC: Final = re.compile(r"\bin[,;:.)]|\bgoes? in\b|\bcomes? out\b|\bin\b.*\bout\b[.:,]")
"""What goes in and what comes out, in the place of a sentence."""

# file: why it reads the environment although it is no settings class
READS_ENVIRONMENT: Final = {
    "bench/peers/checkout.py": "it runs commands and services in an environment like its own but for their settings",
    "api/cli/main.py": "it hands --host and --port to its workers, whose settings are built from the environment",
}

# file: why it catches every exception
CATCHES_ALL: Final = {
    "api/search/price_desc.py": "a search does without a histogram of prices, and reports the engine's error itself",
    "api/changes/tail.py": "a question that fails is its own readers' alone: they get the error, the others wait on",
    "api/saved_searches/matcher.py": "a saved search that fails is logged and says so; the others are matched",
    "api/search/response_cache.py": "a cache fails open: without a revision the response is computed",
    "api/orders/index_sync.py": "a row that fails alone is logged and counted, so that none repeats for ever",
    "api/background.py": "the edge of a background task: whatever fails is logged, the next run follows",
    "api/webhooks/dispatcher.py": "an unexpected exception counts as an attempt, so that none repeats for ever",
}

# What tests break things with.
FAULTS: Final = re.compile(r"\bwire\.rule\b|\bTcpProxy\b|\banswering\(|\bSIGKILL\b")
# file or folder: why its tests do so outside tests/faults
FAULTS_ELSEWHERE: Final = {
    "tests/unit/": "the wire answers in the place of an engine, which there is none of",
    "tests/clients/test_follow_postgres.py": "it runs where the examples and what they need are",
}

EMPTY_NAMES: Final = {"utils", "util", "common", "helpers", "helper", "manager", "misc", "shared", "base"}


def none(offenders: Iterable[str], why: str) -> None:
    """Fails with every offender."""
    listed = sorted(offenders)
    assert not listed, f"{why}:\n" + "\n".join(listed)


def test_packages_import_only_what_they_may_know() -> None:
    for file in FILES:
        package = file.relative_to(ROOT).parts[0]
        allowed, why = MAY_IMPORT[package]
        allowed = allowed | FOLDERS_MAY_ALSO_IMPORT.get(shown(file.parent), (set(), ""))[0]
        needed = {name for name in imported(file) if not name.startswith(tuple(SHARED))}
        tops = {name.partition(".")[0] for name in needed} & {*PACKAGES, "tests", "demo"}
        assert tops <= {*allowed, package}, f"{shown(file)} must not import {tops - allowed - {package}}: {why}"


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


def folders_of(package: str) -> set[str]:
    """The folders of a package."""
    return {file.parent.name for file in ROOT.joinpath(*package.split(".")).glob("*/__init__.py")}


def test_no_two_folders_need_each_other() -> None:
    """Also where the rules above forget a folder, and through the modules beside them."""
    packages = {package for package, file in MODULES.items() if file.name == "__init__.py"}
    cycles = []
    for package in packages:
        try:
            TopologicalSorter(needs_of_folders(package)).prepare()
        except CycleError as error:
            cycles.append(f"{package}: {' → '.join(error.args[1])}")
    none(cycles, "folders import in a circle")


def needs_of_folders(package: str) -> dict[str, set[str]]:
    """What each folder of a package imports of the others, by itself and by any chain of the modules beside them."""
    graph = siblings(package)
    for module in graph.keys() - folders_of(package):
        beyond = graph.pop(module)
        for others in graph.values():
            if module in others:
                others.update(beyond)
                others.discard(module)
    return {folder: others - {folder} for folder, others in graph.items()}


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


def test_names_are_the_fields_words() -> None:
    offenders = {
        f"{shown(file)}: {name}"
        for file in [*FILES, *EXAMPLES]
        for name in names(file)
        if VAGUE_NAMES.fullmatch(name)
        or PRIVATE_PHRASES.search(name)
        or any(PRIVATE_WORDS.fullmatch(word) for word in words(name))
    }
    none(offenders, "say it in the field's words")


def test_docstrings_are_sentences() -> None:
    """Not "what goes in, what comes out"."""
    files = [*FILES, *TEST_FILES]
    openings = {file: (ast.get_docstring(tree_of(file)) or "").partition("\n\n")[0] for file in files}
    none((f"{shown(file)}: {text}" for file, text in openings.items() if TELEGRAPHIC.search(text)), "say what it is")


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
    folders = {file.parent for file in [*FILES, *TEST_FILES]}
    folders -= {ROOT / "store" / "migrations" / "versions"}  # one a change, for ever
    counts = {shown(folder): sum(1 for file in folder.glob("*.py") if file.name != "__init__.py") for folder in folders}
    none((name for name, count in counts.items() if count > MAX_FILES), f"more than {MAX_FILES} files")


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


def test_every_module_opens_with_one_sentence() -> None:
    for file in FILES:
        opening = (ast.get_docstring(tree_of(file)) or "").partition("\n\n")[0]
        assert opening.rstrip().endswith((".", "`", ":")), f"{shown(file)}: say in one sentence what it is or does"


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


def test_nothing_is_named_after_nothing() -> None:
    parts = {(file, part) for file in FILES for part in file.relative_to(ROOT).with_suffix("").parts}
    none((shown(file) for file, part in parts if {*part.split("_")} & EMPTY_NAMES), "the name says nothing")
    classes = [
        f"{shown(file)}: {node.name}"
        for file in FILES
        for node in nodes_of(file)
        if isinstance(node, ast.ClassDef) and re.search(r"Util|Helper|Manager", node.name)
    ]
    none(classes, "the name says nothing")


def test_nothing_is_left_for_later() -> None:
    none((shown(file) for file in FILES if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text_of(file))), "finish it")


@pytest.mark.parametrize("files", [FILES, TEST_FILES], ids=["packages", "tests"])
def test_suppressions_are_few_and_have_reasons(files: list[Path]) -> None:
    lines = sum(len(text_of(file).splitlines()) for file in files)
    comments = [comment for file in files for comment in suppressions(file)]
    assert len(comments) / lines <= MAX_SUPPRESSIONS, "\n".join(comments)
    for comment in comments:
        assert len(SUPPRESSION.sub("", comment).split()) > 2, f"say why: {comment}"
