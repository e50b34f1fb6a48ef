"""The collector of cyclic garbage, paused where many objects are made that all stay. Pure."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Looks through no objects meanwhile: making a hundred thousand of them takes half of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
