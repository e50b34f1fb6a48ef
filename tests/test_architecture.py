"""The house rules: which package may know which, and the bars that every file keeps."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("api", "bench", "indexer", "mappings", "node", "store")
MOST_LINES = 300
MOST_FUNCTION_LINES = 60
USUAL_FUNCTION_LINES = 33
MOST_SUPPRESSIONS = 2 / 1000

# package: (the packages of ours that it may import, why no others)
MAY_IMPORT = {
    "mappings": (set(), "it is the contract between writer and reader: what it knew of either, the other would share"),
    "store": (set(), "it is SQL alone: what an order means is decided where it is called, so a rule has one place"),
    "node": (set(), "it runs a server that others only meet over HTTP: any OpenSearch must do in its place"),
    "indexer": ({"mappings", "store"}, "it writes the index; knowing the reader would make the index's shape a secret"),
    "bench": (
        {"indexer", "mappings", "store"},
        "it measures the services from outside, as their users meet them; only loading is measured by its parts too, "
        "and orders are put straight into the store where a hundred thousand are only to be there",
    ),
    "api": (
        {"mappings", "store"},
        "it reads the index by its alias alone, so that a rebuild needs no API",
    ),
}
# file: why it reads the environment although it is no settings class
READS_ENVIRONMENT: dict[str, str] = {
    "bench/data.py": "it starts commands in an environment like its own but for what is measured",
    "bench/runs/load.py": "it starts loads in an environment like its own but for what is measured",
    "bench/peers/services.py": "it starts services in an environment like its own but for what is measured",
    "api/cli/main.py": "it hands --host and --port to its workers, whose settings are built from the environment",
}
SUPPRESSION = re.compile(r"#\s*(ruff: *)?(noqa|type: *ignore|pragma: *no cover)(: *[A-Z]+\d+|\[[\w, -]+\])?")
NO_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "misc", "shared", "base"}

FILES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
TEST_FILES = sorted((ROOT / "tests").rglob("*.py"))
every_file = pytest.mark.parametrize("file", [*FILES, *TEST_FILES], ids=lambda file: str(file.relative_to(ROOT)))
every_own_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def imported(tree: ast.Module) -> Iterator[str]:
    """The top-level packages that a file imports, wherever in it and also where only for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that this test sees them"
            yield (node.module or "").partition(".")[0]


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each function's name and its lines, decorators not counted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


@every_own_file
def test_packages_import_only_what_they_may_know(file: Path) -> None:
    package = file.relative_to(ROOT).parts[0]
    allowed, why = MAY_IMPORT[package]
    found = set(imported(tree_of(file))) & {*PACKAGES, "tests", "demo", "bench"}
    assert found <= {*allowed, package}, f"{package} must not import {found - allowed - {package}}: {why}"


def test_the_indexer_uses_the_store_only_for_the_items_that_orders_bind() -> None:
    modules = {
        node.module
        for file in (ROOT / "indexer").rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("store")
    }
    names = {
        f"{node.module}.{alias.name}"
        for file in (ROOT / "indexer").rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ImportFrom) and node.module == "store"
        for alias in node.names
    }
    assert not names & {"store.auth.tokens"}, "loading needs nobody's token"
    assert "store.auth.tokens" not in modules, "loading needs nobody's token"


def test_only_one_place_builds_clients_of_the_engine() -> None:
    builders = {
        str(file.relative_to(ROOT))
        for file in FILES
        for node in ast.walk(tree_of(file))
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
    for file in FILES:
        if file.relative_to(ROOT).parts[0] == "store":
            continue
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("sqlalchemy", "alembic")):
                assert [alias.name for alias in node.names] == ["AsyncConnection"], (
                    f"{file}: a transaction has one owner"
                )
            elif isinstance(node, ast.Import):
                assert not {alias.name.partition(".")[0] for alias in node.names} & {"sqlalchemy", "alembic"}, str(file)


def test_queries_and_results_are_pure() -> None:
    pure = (
        "engine/results",
        "facets/facets",
        "facets/histogram",
        "groups/groups",
        "parsing/parse",
        "query/attachments",
        "query/request",
    )
    knows = {"fastapi", "starlette", "opensearchpy", "httpx", "asyncio", "time", "random", "secrets", "os"}
    for name in pure:
        found = set(imported(tree_of(ROOT / "api" / "search" / f"{name}.py"))) & knows
        assert not found, f"{name} must be a function of its arguments, to be tested without a server: {found}"


@every_file
def test_no_file_is_too_long_to_read_at_once(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@every_file
def test_no_function_is_too_long_to_read_at_once(file: Path) -> None:
    assert not [(name, lines) for name, lines in functions(tree_of(file)) if lines > MOST_FUNCTION_LINES]


def test_nearly_all_functions_are_short() -> None:
    lengths = [lines for file in FILES for _, lines in functions(tree_of(file))]
    short = sum(lines < USUAL_FUNCTION_LINES for lines in lengths)
    assert short / len(lengths) >= 0.95


@every_own_file
def test_every_module_opens_with_one_sentence(file: Path) -> None:
    tree = tree_of(file)
    if not tree.body:
        assert file.name == "__init__.py"
        return
    opening = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    assert opening, "say in one sentence what goes in and what comes out"
    assert opening.rstrip().endswith((".", "`", ":"))


@every_own_file
def test_the_environment_is_read_by_settings_alone(file: Path) -> None:
    name = str(file.relative_to(ROOT))
    reads = re.search(r"\bos\.environ|\bgetenv\b|\benvironb?\b(?=[.\[(])", file.read_text(encoding="utf-8"))
    assert reads is None or name in READS_ENVIRONMENT, "read it in the settings class and pass it down"


@every_own_file
def test_no_error_is_caught_unseen(file: Path) -> None:
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            broad = [one for one in caught if one is None or getattr(one, "id", "") in ("Exception", "BaseException")]
            assert not broad or raises_again(node), f"line {node.lineno}: name the errors that are meant"


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler that cleans up after anything passes it on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@every_own_file
def test_nothing_is_named_after_nothing(file: Path) -> None:
    parts = set(file.relative_to(ROOT).with_suffix("").parts)
    words = {word for part in parts for word in part.split("_")}
    assert not words & NO_NAMES
    classes = [node.name for node in ast.walk(tree_of(file)) if isinstance(node, ast.ClassDef)]
    assert not [name for name in classes if re.search(r"Util|Helper|Manager(?!$)|Manager$", name)]


@every_own_file
def test_nothing_is_left_for_later(file: Path) -> None:
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", file.read_text(encoding="utf-8"))


def suppressions(file: Path) -> Iterator[str]:
    """The comments of a file that silence a check."""
    with tokenize.open(file) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT and SUPPRESSION.search(token.string):
                yield token.string


@pytest.mark.parametrize("files", [FILES, TEST_FILES], ids=["packages", "tests"])
def test_suppressions_are_few_and_have_reasons(files: list[Path]) -> None:
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    found = [comment for file in files for comment in suppressions(file)]
    assert len(found) / lines <= MOST_SUPPRESSIONS, "\n".join(found)
    for comment in found:
        assert len(SUPPRESSION.sub("", comment).split()) > 2, f"say why: {comment}"
