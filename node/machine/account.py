"""The account that runs the server when we are root, since OpenSearch refuses to run as root."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from node.errors import NodeError


@dataclass(frozen=True)
class Account:
    """An unprivileged account of this machine."""

    name: str
    uid: int
    gid: int


def running_as_root() -> bool:
    """Whether this process has user id 0 (never so where there are no user ids)."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def server_account(name: str) -> Account | None:
    """The account to run the server as, or None when it runs as ourselves.

    Raises NodeError when we are root and there is no such account, or it is root again.
    """
    if not running_as_root():
        return None
    import pwd

    try:
        entry = pwd.getpwnam(name)
    except KeyError as error:
        raise NodeError(
            f"OpenSearch refuses to run as root, and there is no account {name!r} to run it as: "
            "name an existing one in GEAR_NODE_USER"
        ) from error
    if entry.pw_uid == 0:
        msg = f"OpenSearch refuses to run as root, and {name!r} is root: name another account in GEAR_NODE_USER"
        raise NodeError(msg)
    return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)


def may_enter(mode: int, owner: int, group: int, account: Account) -> bool:
    """Whether the account may pass through a folder of this mode and owner."""
    if owner == account.uid:
        return bool(mode & stat.S_IXUSR)
    if group == account.gid:
        return bool(mode & stat.S_IXGRP)
    return bool(mode & stat.S_IXOTH)


def closed_folder(path: Path, account: Account) -> Path | None:
    """The first existing folder on the way to `path` (itself included) that the account may not enter, or None."""
    for folder in [*reversed(path.parents), path]:
        if not folder.is_dir():
            return None
        status = folder.stat()
        if not may_enter(status.st_mode, status.st_uid, status.st_gid, account):
            return folder
    return None
