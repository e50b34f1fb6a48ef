"""A pinned file, its addresses and a folder go in; the file's path comes out, its SHA-256 checked.

Bytes arrive in `<name>.part`. A broken download goes on where it stopped (a Range request), a damaged one starts
again from zero, and only checked bytes ever get the file's real name.
"""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import requests

from node.errors import DamagedDownloadError, UnreachableError
from node.pins import PinnedFile
from node.talk import Talk

_CHUNK = 1 << 16
_TIMEOUT = (10, 30)
"""Seconds to connect, seconds without a byte."""
_WORTH_ANOTHER_TRY = (408, 425, 429)
"""HTTP 4xx that tell about the moment, not about the file."""
_PAUSE = 0.25
"""Seconds before going on after the first broken connection; doubled with every barren one."""
ATTEMPTS = 5
"""Broken connections in a row, none of which brought a byte, before giving up."""


def addresses(pinned: PinnedFile, mirror: str | None) -> list[str]:
    """Where the file may be fetched: from the mirror if there is one, else from jgo's repositories."""
    from jgo.maven import MavenContext

    context = MavenContext() if mirror is None else MavenContext(remote_repos={"mirror": mirror.rstrip("/")})
    component = context.project(pinned.group, pinned.name).at_version(pinned.version)
    artifact = component.artifact(packaging=pinned.packaging)
    folder = component.path_prefix.as_posix()
    return [f"{base}/{folder}/{artifact.filename}" for base in context.remote_repos.values()]


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(path: Path, pinned: PinnedFile) -> bool:
    """Whether the file is there with the pinned size and SHA-256."""
    return path.is_file() and path.stat().st_size == pinned.size and sha256_of(path) == pinned.sha256


def fetch(pinned: PinnedFile, folder: Path, places: Sequence[str], talk: Talk) -> Path:
    """The checked file in `folder`, fetched from the first of the addresses that has it if it is not there yet.

    Raises UnreachableError (what arrived is kept) or DamagedDownloadError (nothing is kept).
    """
    target = folder / pinned.filename
    if is_intact(target, pinned):
        return target
    if target.exists():
        talk.say(f"{target} is damaged (its SHA-256 is not the pinned one): fetching it again")
        target.unlink()
    part = target.with_name(f"{target.name}.part")
    resumed = part.exists()
    _fetch_part(pinned, part, places, talk)
    if resumed and not is_intact(part, pinned):
        talk.say(f"what an earlier download left of {pinned.filename} was damaged: starting again from zero")
        part.unlink()
        _fetch_part(pinned, part, places, talk)
    if not is_intact(part, pinned):
        found = sha256_of(part)
        part.unlink()
        msg = (
            f"{pinned.coordinates} arrived with SHA-256 {found}, pinned is {pinned.sha256}: nothing was kept. "
            "A proxy or mirror in between changes it, or the source does; try another network or GEAR_NODE_REPOSITORY"
        )
        raise DamagedDownloadError(msg)
    part.replace(target)
    return target


def _fetch_part(pinned: PinnedFile, part: Path, places: Sequence[str], talk: Talk) -> None:
    """Fill `part` up to the pinned size, going on after broken connections. Raises UnreachableError."""
    faults: list[str] = []
    for address in places:
        barren = restarts = 0
        fault: str | None = None
        while _size(part) < pinned.size and fault is None:
            before = _size(part)
            try:
                fault = _receive(pinned, part, address, talk)
            except requests.RequestException as error:
                barren = barren + 1 if _size(part) <= before else 0
                if barren >= ATTEMPTS:
                    fault = _reason(error)
                    break
                talk.say(f"the download broke ({_reason(error)}), going on at {_size(part) / 1e6:.1f} MB")
                time.sleep(_PAUSE * 2**barren)
            restarts += bool(before and not _size(part))
            if restarts > 1:
                fault = "it cannot go on where a download stopped, and a whole one breaks off"
        if fault is None:
            return
        faults.append(f"{address}: {fault}")
    kept = f" {_size(part) / 1e6:.1f} MB are kept, the next start goes on from there." if _size(part) else ""
    msg = (
        f"cannot fetch {pinned.coordinates} ({'; '.join(faults)}).{kept} Check the network and the proxy settings, "
        "or name a mirror in GEAR_NODE_REPOSITORY; once fetched, no network is needed again"
    )
    raise UnreachableError(msg)


def _receive(pinned: PinnedFile, part: Path, address: str, talk: Talk) -> str | None:
    """One request for what is missing; a sentence when asking again would not help, else None.

    Raises requests.RequestException for a broken connection and for an answer that may be better next time.
    """
    have = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(address, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        status = response.status_code
        content_range = response.headers.get("Content-Range", "")
        if have and (status == 416 or (status == 206 and not content_range.startswith(f"bytes {have}-"))):
            part.unlink()  # the source cannot go on from here: the next request asks for the whole file
            return None
        if 400 <= status < 500 and status not in _WORTH_ANOTHER_TRY:
            return f"HTTP {status} {response.reason}"
        response.raise_for_status()
        total = _announced(response)
        if total is not None and total != pinned.size:
            return f"the file there has {total} bytes, the pinned one {pinned.size}"
        _store(response, pinned, part, have if status == 206 else 0, talk)
    return None


def _store(response: requests.Response, pinned: PinnedFile, part: Path, done: int, talk: Talk) -> None:
    """Write the body behind the first `done` bytes of `part`, never more than the pinned size."""
    with part.open("ab" if done else "wb") as file, talk.progress(pinned.filename, pinned.size, done) as moved:
        for chunk in response.iter_content(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            moved(done)
            if done > pinned.size:
                break
    if done < pinned.size:
        msg = f"the answer ended after {done} of {pinned.size} bytes"
        raise requests.ConnectionError(msg)


def _announced(response: requests.Response) -> int | None:
    """Bytes of the whole file as the answer's headers tell it, None when they do not."""
    if response.status_code == 206:
        told = response.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        told = response.headers.get("Content-Length", "")
    return int(told) if told.isdigit() else None


def _size(path: Path) -> int:
    """Bytes of the file, 0 when there is none."""
    return path.stat().st_size if path.exists() else 0


def _reason(error: requests.RequestException) -> str:
    """The innermost cause of a failed request, in a few words."""
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    return f"{type(cause).__name__}: {cause}"[:200]
