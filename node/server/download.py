"""Downloads the pinned files, checked by SHA-256 and cached: nothing unchecked ever gets a file's real name."""

from collections.abc import Callable, Sequence
from pathlib import Path

import requests

from node.errors import NodeError
from node.server.pins import PINNED_FILES, PinnedFile

_TIMEOUT = (10, 30)
"""Seconds to connect, seconds without a byte."""
RETRIES = 3
"""Further tries from each address, after 1, 2 and 3 seconds."""


def addresses(pinned: PinnedFile, mirror: str | None) -> list[str]:
    """Where the file may be fetched: from the mirror if there is one, else from jgo's repositories."""
    from jgo.maven import MavenContext

    context = MavenContext() if mirror is None else MavenContext(remote_repos={"mirror": mirror.rstrip("/")})
    component = context.project(pinned.group, pinned.name).at_version(pinned.version)
    artifact = component.artifact(packaging=pinned.packaging)
    folder = component.path_prefix.as_posix()
    return [f"{base}/{folder}/{artifact.filename}" for base in context.remote_repos.values()]


def remove_fragments(folder: Path) -> None:
    """Removes what a killed download left. The caller holds the cache's lock."""
    for path in folder.iterdir():
        if path.name not in {pinned.filename for pinned in PINNED_FILES}:
            path.unlink()


def fetch(
    pinned: PinnedFile, folder: Path, places: Sequence[str], say: Callable[[str], None], *, retries: int = RETRIES
) -> Path:
    """The checked file in `folder`, fetched from the first address that has it unless it is there.

    Raises NodeError where none has it, or its SHA-256 is not the pinned one; nothing of a failed download stays.
    """
    import pooch

    pooch.get_logger().setLevel("ERROR")
    target = folder / pinned.filename
    known_hash = f"sha256:{pinned.sha256}"
    if target.is_file() and pooch.hashes.hash_matches(target, known_hash):
        return target
    if target.exists():
        say(f"{target} is damaged (its SHA-256 is not the pinned one): fetching it again")
    failures: list[str] = []
    for address in places:
        cache = pooch.create(
            folder,
            base_url="",
            registry={pinned.filename: known_hash},
            urls={pinned.filename: address},
            retry_if_failed=retries,
        )
        try:
            say(f"fetching {pinned.filename}: {pinned.size / 1e6:.1f} MB")
            downloader = pooch.HTTPDownloader(timeout=_TIMEOUT)
            return Path(cache.fetch(pinned.filename, downloader=downloader))
        except requests.RequestException as error:
            failures.append(f"{address}: {_reason(error)}")
        except ValueError as error:
            raise NodeError(
                f"{pinned.coordinates} arrived from {address} with another SHA-256 than the pinned {pinned.sha256}: "
                "nothing was kept. A proxy or mirror in between changes it, or the source does; "
                "try another network or GEAR_NODE_REPOSITORY"
            ) from error
    raise NodeError(
        f"cannot fetch {pinned.coordinates} ({'; '.join(failures)}). Check the network and the proxy settings, "
        "or name a mirror in GEAR_NODE_REPOSITORY; once fetched, no network is needed again"
    )


def _reason(error: requests.RequestException) -> str:
    """The innermost cause of a failed request, in a few words."""
    if error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}"
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    return f"{type(cause).__name__}: {cause}"[:200]
