"""Unpacks the server in the cache, ready to run.

Unpacking happens beside the final name and is renamed at the end: a server folder is complete or not there.
"""

import hashlib
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from node.errors import NodeError
from node.folders import Folders, make_folder
from node.machine.system import free_disk
from node.server.download import addresses, fetch, remove_fragments
from node.server.pins import LIBRARIES, OPENSEARCH_VERSION, PINNED_FILES, SERVER, UNPACKED_BYTES


def ensure_server(folders: Folders, mirror: str | None, say: Callable[[str], None]) -> Path:
    """The unpacked server, fetched and unpacked first if it is not there. The caller holds the cache's lock.

    Raises NodeError when it cannot be fetched or the disk is too small.
    """
    # the name changes with every pinned hash
    pins = hashlib.sha256("".join(pinned.sha256 for pinned in PINNED_FILES).encode()).hexdigest()[:12]
    folder = folders.cache / f"opensearch-{OPENSEARCH_VERSION}-{pins}"
    if folder.is_dir():
        return folder
    downloads = folders.cache / "downloads"
    make_folder(downloads)
    remove_fragments(downloads)
    check_disk(downloads, free_disk(downloads))
    files = {pinned: fetch(pinned, downloads, addresses(pinned, mirror), say) for pinned in PINNED_FILES}
    say(f"unpacking OpenSearch {OPENSEARCH_VERSION} to {folder}")
    unfinished = folder.with_name(f"{folder.name}.part")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    with zipfile.ZipFile(files[SERVER]) as archive:
        archive.extractall(unfinished)
    inner = unfinished / f"opensearch-{OPENSEARCH_VERSION}"
    for library in LIBRARIES:
        shutil.copyfile(files[library], inner / "lib" / library.filename)
    for path in [inner, *inner.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    inner.replace(folder)
    unfinished.rmdir()
    return folder


def check_disk(downloads: Path, free: int) -> None:
    """Raises NodeError when the missing downloads and the unpacked server do not fit into `free` bytes."""
    missing = sum(pinned.size for pinned in PINNED_FILES if not (downloads / pinned.filename).exists())
    needed = missing + UNPACKED_BYTES
    if free < needed:
        raise NodeError(
            f"{downloads} has {free / 1e6:.0f} MB free, and fetching and unpacking OpenSearch takes "
            f"{needed / 1e6:.0f} MB: free some, or choose another disk with GEAR_NODE_CACHE"
        )
