"""A node touches folders of its own only, and those can be read by the account that runs the server."""

import os
from pathlib import Path

import pytest

from node.errors import NodeError
from node.folders import LOCK, ROOT_HOME, Folders, find_folders, make_folder, prepare, prepare_server
from node.machine.account import Account, closed_folder, may_enter, server_account
from node.settings import read_settings

SOMEBODY = Account(name="somebody", uid=4711, gid=4712)


def folders(folder: Path, account: Account | None = None) -> Folders:
    return Folders(home=folder / "node", cache=folder / "cache", account=account)


@pytest.mark.parametrize(
    ("mode", "owner", "group", "may"),
    [
        (0o700, 4711, 0, True),
        (0o077, 4711, 0, False),
        (0o710, 0, 4712, True),
        (0o701, 0, 4712, False),
        (0o701, 0, 0, True),
        (0o770, 0, 0, False),
    ],
)
def test_the_rights_of_owner_group_and_others_decide(mode: int, owner: int, group: int, may: bool) -> None:
    assert may_enter(mode, owner, group, SOMEBODY) is may


def test_the_first_closed_folder_on_the_way_is_named(tmp_path: Path) -> None:
    ourselves = Account(name="ourselves", uid=os.getuid(), gid=os.getgid())
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    assert closed_folder(closed / "inner" / "new", ourselves) is None
    closed.chmod(0o077)
    try:
        assert closed_folder(closed / "inner" / "new", ourselves) == closed
    finally:
        closed.chmod(0o700)


def test_root_needs_another_account_and_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert server_account("whoever") is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    account = server_account("nobody")
    assert account is not None
    assert account.uid != 0
    with pytest.raises(NodeError, match=r"there is no account 'no-such-account' to run it as.*GEAR_NODE_USER"):
        server_account("no-such-account")
    with pytest.raises(NodeError, match="'root' is root: name another account"):
        server_account("root")


def test_roots_node_lives_where_others_can_read_and_a_users_below_his_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GEAR_NODE_DIR", "GEAR_NODE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    settings = read_settings()
    assert find_folders(settings, SOMEBODY).home == ROOT_HOME / "node"
    assert find_folders(settings, SOMEBODY).cache == ROOT_HOME / "cache"
    assert find_folders(settings, None).home.is_relative_to(tmp_path)
    assert find_folders(settings, None).cache.is_relative_to(tmp_path)
    own = find_folders(read_settings(dir=tmp_path / "own", cache=tmp_path / "c"), SOMEBODY)
    assert (own.home, own.cache, own.account) == (tmp_path / "own", tmp_path / "c", SOMEBODY)


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    foreign = folders(tmp_path)
    (foreign.home / "config").mkdir(parents=True)
    with pytest.raises(NodeError, match="is not empty and no folder of gear-node: choose a new one with --dir"):
        prepare(foreign)
    assert (foreign.home / "config").is_dir()


def test_a_file_in_the_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(NodeError, match="choose a new one with GEAR_NODE_CACHE"):
        prepare(folders(tmp_path))


def test_folders_are_readable_by_all_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o755


def test_configuration_begins_empty_and_data_stay(tmp_path: Path) -> None:
    mine = folders(tmp_path)
    prepare(mine)
    (mine.home / LOCK).touch()
    prepare_server(mine)
    for folder in (mine.config, mine.temporary, mine.data, mine.logs):
        (folder / "file").touch()
    prepare(mine)
    prepare_server(mine)
    assert not list(mine.config.iterdir())
    assert not list(mine.temporary.iterdir())
    assert (mine.data / "file").exists()
    assert (mine.logs / "file").exists()


def test_a_place_that_the_account_cannot_enter_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(NodeError, match="the account 'somebody', which runs the server because root may not"):
        prepare(folders(tmp_path, SOMEBODY))
    assert not list(tmp_path.iterdir())
