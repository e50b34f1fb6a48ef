"""After how many days rows are erased, where routes and commands say so too. Pure."""

from typing import Final

SEARCHES_DAYS: Final = 30
