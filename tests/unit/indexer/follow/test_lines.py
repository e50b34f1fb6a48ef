"""Changes from stdin."""

import sys

import pytest

from indexer.errors import CommandError
from indexer.follow.lines import LineStream
from mappings.platforms import read_platforms


def test_stdin_that_is_closed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (platform,) = read_platforms()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CommandError, match="stdin is closed"):
        LineStream(platform)
