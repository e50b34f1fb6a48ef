"""Imported first by the process that others are forked from: it reads the package's vocabularies for all of them."""

from pathlib import Path

import mappings.platforms
from mappings.platforms import PLATFORM_FILES, Platforms
from tests.support.platforms import shared_platforms

_read = mappings.platforms.read_platforms


def _read_or_shared(folder: Path = PLATFORM_FILES) -> Platforms:
    return shared_platforms() if folder == PLATFORM_FILES else _read(folder)


for _platform in shared_platforms():
    _platform.merged_vocabulary.make_tables()
mappings.platforms.read_platforms = _read_or_shared
