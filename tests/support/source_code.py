"""The project's source code as the architecture tests see it; each file is read and parsed once."""

import ast
import re
import tokenize
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.import_rules import SHARED

ROOT: Final = Path(__file__).parent.parent.parent
PACKAGES: Final = ("api", "bench", "indexer", "mappings", "node", "store")
FILES: Final = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
EXAMPLES: Final = [
    ROOT / "demo.py",
    *sorted(file for folder in ("clients", "docs/examples") for file in (ROOT / folder).rglob("*.py")),
]
TEST_FILES: Final = sorted((ROOT / "tests").rglob("*.py"))
SUPPRESSION: Final = re.compile(r"#\s*(ruff: *)?(noqa|type: *ignore|pragma: *no cover)(: *[A-Z]+\d+|\[[\w, -]+\])?")
# Modules that are framework-free, besides those whose docstring says so.
FRAMEWORK_FREE: Final = (
    *("api.errors", "api.search.schemas.", "api.search.parsing.", "api.search.query.", "api.search.facets"),
    *("api.search.groups", "indexer.documents."),
)
OPTION: Final = re.compile(r"--[a-z][a-z-]+(/--[a-z-]+)?|gear_[a-z_]+|GEAR_[A-Z_]+")
"""A flag, a metric or a setting, where a string is nothing else."""


@cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(text_of(file), filename=str(file))


@cache
def nodes_of(file: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(file)))


@cache
def statements_of(file: Path) -> list[ast.AST]:
    """The statements of a file with those inside them, without their expressions, which are most of its nodes."""
    statements: list[ast.AST] = [tree_of(file)]
    for statement in statements:  # grows meanwhile
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            statements += getattr(statement, part, ())
    return statements


def shown(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def module_of(file: Path) -> str:
    """The dotted name of a file; a package's is that of its folder."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES: Final = {module_of(file): file for file in FILES}


def pure_modules() -> list[str]:
    """The modules whose docstring says that they are pure: functions of their arguments, which wait for nothing."""
    return [module for module, file in MODULES.items() if _says(file, "pure")]


def framework_free_modules() -> list[str]:
    """The modules that reach no framework, client or driver, and of which every branch has a unit test; all pure ones
    are among them.
    """
    free = {module for module, file in MODULES.items() if _says(file, "framework-free")}
    free |= {module for module in MODULES if f"{module}.".startswith(FRAMEWORK_FREE)}
    return sorted(free.union(pure_modules()))


def _says(file: Path, word: str) -> bool:
    return re.search(rf"\b{word}\b", ast.get_docstring(tree_of(file)) or "", re.IGNORECASE) is not None


def names_in(node: ast.AST) -> list[str]:
    """The dotted names that an import statement binds."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute, so that the tests see them"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def imported(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, wherever in it and also where only for types."""
    for node in statements_of(file):
        yield from names_in(node)


@cache
def needs(file: Path) -> set[str]:
    """The dotted names that a file imports when it runs: not where only types are checked."""
    for_types = {
        inner
        for node in statements_of(file)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    return {name for node in statements_of(file) if node not in for_types for name in names_in(node)}


def own_module(name: str) -> str | None:
    """The module of ours that a dotted name is in."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or None


def with_parents(module: str) -> Iterator[str]:
    """A module and the packages that are imported before it."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def way_to(module: str, libraries: set[str]) -> list[str] | None:
    """The shortest chain of imports from a module to one of these libraries."""
    waiting, ways = deque([module]), {module: [module]}
    while waiting:
        current = waiting.popleft()
        for name in sorted(needs(MODULES[current])):
            if name.partition(".")[0] in libraries:
                return [*ways[current], name]
            own = own_module(name)
            for other in with_parents(own) if own else ():
                if other not in ways:
                    ways[other] = [*ways[current], other]
                    waiting.append(other)
    return None


def top_of(file: Path) -> str:
    """The package at the top that a file is in."""
    return file.relative_to(ROOT).parts[0]


def tops_of(file: Path) -> set[str]:
    """The packages of ours that a file imports, but for what all may."""
    needed = {name for name in imported(file) if not name.startswith(tuple(SHARED))}
    return {name.partition(".")[0] for name in needed} & {*PACKAGES, "tests", "demo"}


def folders_of(package: str) -> set[str]:
    """The folders of a package."""
    return {file.parent.name for file in ROOT.joinpath(*package.split(".")).glob("*/__init__.py")}


def siblings(package: str) -> dict[str, set[str]]:
    """What each folder and each module of a package imports of the others there."""
    depth = package.count(".") + 1
    graph: dict[str, set[str]] = {}
    for module, file in MODULES.items():
        if module.startswith(f"{package}."):
            child = module.split(".")[depth]
            others = graph.setdefault(child, set())
            own = filter(None, map(own_module, needs(file)))
            others |= {other.split(".")[depth] for other in own if other.startswith(f"{package}.")} - {child}
    return graph


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """Each function's name and its lines, decorators not counted."""
    for node in statements_of(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def names(file: Path) -> Iterator[str]:
    """What a file names: itself, classes, functions, parameters, variables, attributes, flags, metrics, settings."""
    yield from file.relative_to(ROOT).with_suffix("").parts
    for node in nodes_of(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and OPTION.fullmatch(node.value):
            yield node.value


def words(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def suppressions(file: Path) -> Iterator[str]:
    """The comments of a file that silence a check."""
    if not SUPPRESSION.search(text_of(file)):
        return
    with tokenize.open(file) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT and SUPPRESSION.search(token.string):
                yield token.string


def none(offenders: Iterable[str], why: str) -> None:
    """Fails with every offender."""
    listed = sorted(offenders)
    assert not listed, f"{why}:\n" + "\n".join(listed)
