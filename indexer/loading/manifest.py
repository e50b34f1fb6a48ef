"""The manifest of a load: the id and the checksum of every accepted item, and one of all of them.

The checksums are in a temporary file of 16 bytes an item, so memory does not grow with the catalogue.
"""

import struct
import tempfile
import threading
from contextlib import AbstractContextManager, suppress
from copy import deepcopy

from pyroaring import BitMap64

from indexer.documents.digest import Checksum
from indexer.errors import CommandError
from mappings.items.item import MIN_INTEGER

_RECORD = struct.Struct("<qQ")
_RECORDS_AT_ONCE = 16_384
_CONTENT = "hashes (16 bytes each)"


def key_of(number: int) -> int:
    """An item's id as a set of 64-bit numbers takes it: these have no negative ones."""
    return number - MIN_INTEGER


class Manifest(AbstractContextManager["Manifest"]):
    """The items that were accepted; `refuse` takes those back that the engine would not have."""

    def __init__(self) -> None:
        """Raises CommandError where the temporary file cannot be made."""
        try:
            self._file = tempfile.TemporaryFile(prefix="gear-indexer-")  # noqa: SIM115  # closed by the context that this is
        except OSError as error:
            raise temporary_file_error(_CONTENT, error) from error
        self._accepted = Checksum()
        self._refused = BitMap64()
        self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what could not be written was reported when it happened
            self._file.close()

    def add(self, number: int, digest: int) -> None:
        """An item that is sent to the engine; raises CommandError where its hash cannot be kept."""
        self._accepted.add(digest)
        try:
            self._file.write(_RECORD.pack(number, digest))
        except OSError as error:
            raise temporary_file_error(_CONTENT, error) from error

    def refuse(self, number: int) -> None:
        """An item that was added and that the engine refused; called by the threads that send."""
        with self._lock:
            self._refused.add(key_of(number))

    def accepted(self) -> Checksum:
        """The checksum of what was added so far, the refused ones too."""
        return deepcopy(self._accepted)

    def checksum(self, without: BitMap64) -> Checksum:
        """The checksum of all accepted items, but for those with these keys; call it when all were acknowledged."""
        left_out = without | self._refused
        return self._accepted.without(self._among(left_out)) if left_out else self._accepted

    def _among(self, keys: BitMap64) -> Checksum:
        checksum = Checksum()
        try:
            self._file.seek(0)
            while data := self._file.read(_RECORD.size * _RECORDS_AT_ONCE):
                for number, digest in _RECORD.iter_unpack(data):
                    if key_of(number) in keys:
                        checksum.add(digest)
        except OSError as error:
            raise temporary_file_error(_CONTENT, error) from error
        return checksum


def temporary_file_error(content: str, error: OSError) -> CommandError:
    return CommandError(
        f"the temporary file with the items' {content} cannot be written or read ({error.strerror}): "
        "make room in the system's temporary folder, or name another one in TMPDIR"
    )
