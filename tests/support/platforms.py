"""The package's platforms without their vocabularies' time: the tables take two seconds of a core, once a process."""

import gc
from functools import cache

from mappings.platforms import Platform, Platforms, read_platforms


@cache
def _platforms() -> tuple[Platform, ...]:
    platforms = read_platforms()
    for platform in platforms:
        platform.merged_vocabulary.make_tables()  # as a server does before its first search
    gc.freeze()  # as it does, too: a collection of garbage looks through a million objects else
    return tuple(platforms)


def shared_platforms() -> Platforms:
    """Platforms of the caller's own, with one vocabulary for all: what one is told to use, no other one uses."""
    return Platforms([platform.model_copy() for platform in _platforms()])
