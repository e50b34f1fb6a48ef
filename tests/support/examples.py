"""How many examples a test draws: enough to find a new fault, and many more in `make test-extended`."""

import os
from typing import Final

EXTENDED: Final = bool(os.environ.get("GEAR_TEST_EXTENDED"))


def examples(usual: int, extended: int) -> int:
    """The number for this run."""
    return extended if EXTENDED else usual
