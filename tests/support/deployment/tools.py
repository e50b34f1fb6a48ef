"""Finds the tools of operators; where one is missing, skips the test and says how to get it."""

import shutil
from pathlib import Path

import pytest

_BUILT = Path(__file__).parents[3] / "var" / "tools" / "bin"


def tool(name: str, way: str) -> str:
    """The program that make built below var/, else the system's."""
    program = shutil.which(name, path=_BUILT) or shutil.which(name)
    if program is None:
        pytest.skip(f"there is no {name}: {way}")
    return program
