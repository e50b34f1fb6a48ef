"""The folders of one node and of the shared cache, created with the rights that its account needs.

A node directory holds `data`, `logs`, `snapshots`, `config`, `tmp` (the server's own), and beside them `node.json` (who
runs), `console.log` and `gear-node.lock` (ours). The cache holds the downloads and the unpacked server, shared by all
nodes.
"""

import os
import shutil
from pathlib import Path

from node.errors import NodeError
from node.machine.account import Account, closed_folder
from node.settings import NodeSettings

ROOT_HOME = Path("/var/lib/gear-node")
"""Where everything lives when we are root: root's own folders cannot be read by the account that runs the server."""
LOCK = "gear-node.lock"
"""The lock's name. It is the first file made in a folder, and by it we know the folder as ours."""


class Folders:
    """All folders and files of one node; `account` is who must be able to read them, None for ourselves."""

    def __init__(self, *, home: Path, cache: Path, account: Account | None) -> None:
        self.home, self.cache, self.account = home, cache, account
        self.data = home / "data"
        self.logs = home / "logs"
        self.log = self.logs / "node.log"  # the current one
        self.snapshots = home / "snapshots"  # where the server may make repositories of snapshots
        self.config = home / "config"  # written anew at every start
        self.temporary = home / "tmp"  # Java's
        # all that the server itself reads and writes
        self.of_server = (self.data, self.logs, self.snapshots, self.config, self.temporary)
        self.console = home / "console.log"  # what the Java process itself printed since its start
        self.record = home / "node.json"  # the pid file: which process runs this node
        self.lock = home / LOCK  # held by every command that changes the node
        self.cache_lock = cache / LOCK  # held while files are fetched and unpacked


def find_folders(settings: NodeSettings, account: Account | None) -> Folders:
    """Where this node lives: as the settings say, else below the user's folders, else (root) below /var/lib."""
    from platformdirs import user_cache_path, user_data_path

    if account is not None:
        home, cache = ROOT_HOME / "node", ROOT_HOME / "cache"
    else:
        home, cache = user_data_path("gear") / "node", user_cache_path("gear") / "node"
    return Folders(home=settings.dir or home, cache=settings.cache or cache, account=account)


def make_folder(folder: Path, account: Account | None = None) -> None:
    """Make a folder and its missing parents, readable by all; give the last one to the account if there is one."""
    missing = [path for path in [folder, *folder.parents] if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        path.chmod(0o755)
    if account is not None:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)


def prepare(folders: Folders) -> None:
    """Make the node's folder and the cache. Raises NodeError where they cannot be made or used."""
    for folder, choice in ((folders.home, "--dir or GEAR_NODE_DIR"), (folders.cache, "GEAR_NODE_CACHE")):
        if folders.account is not None and (closed := closed_folder(folder, folders.account)):
            raise NodeError(
                f"the account {folders.account.name!r}, which runs the server because root may not, cannot enter "
                f"{closed}, and so not {folder}: choose a place elsewhere, such as {ROOT_HOME}, with {choice}"
            )
        try:
            check_ours(folder, choice)
            make_folder(folder)
        except OSError as error:
            msg = f"cannot make the folder {folder}: {error.strerror}; choose another with {choice}"
            raise NodeError(msg) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise NodeError(f"cannot write to {folder}: it belongs to another user; choose another with {choice}")


def check_ours(folder: Path, choice: str) -> None:
    """Raises NodeError for a folder that holds something and was not made by us: nothing there may be deleted."""
    if folder.exists() and not (folder / LOCK).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NodeError(f"{folder} is not empty and no folder of gear-node: choose a new one with {choice}")


def prepare_server(folders: Folders) -> None:
    """Make what the server itself writes to; configuration and temporary files begin empty at every start."""
    for folder in (folders.config, folders.temporary):
        if folder.exists():
            shutil.rmtree(folder)
    for folder in folders.of_server:
        make_folder(folder, folders.account)
