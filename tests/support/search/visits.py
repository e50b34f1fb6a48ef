"""Which modules one search body visits, as a reader follows it (docs/decisions/0046)."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

SEARCH: Final = str(Path(__file__).parents[3] / "api" / "search") + "/"
SHORT: Final = 12
"""Lines of a function that a reader need not open where it calls only such functions: its name says what it does."""

_recording: ContextVar["Visits"] = ContextVar("recording")


@contextmanager
def profiled(profile: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Calls of this thread are told to `profile` meanwhile."""
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


class Visits:
    """The functions of `api/search` that were called, in the order of their first calls, each below its caller."""

    def __init__(self) -> None:
        self._callers: dict[CodeType, CodeType | None] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Records what the caller runs meanwhile, in its own task and those that it starts."""
        token = _recording.set(self)
        try:
            with profiled(self._profile):
                yield
        finally:
            _recording.reset(token)

    def modules(self) -> list[str]:
        """The modules that are visited, one after the other, to the last new one; each function is read once."""
        stays: list[str] = []
        self._read(None, stays)
        while stays and stays[-1] in stays[:-1]:
            stays.pop()
        return stays

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not _is_search(frame.f_code) or frame.f_code in self._callers:
            return
        if _recording.get(None) is self:  # not a task of the app's own, which happens to run meanwhile
            caller = frame.f_back
            while caller is not None and not _is_search(caller.f_code):
                caller = caller.f_back
            self._callers[frame.f_code] = None if caller is None else caller.f_code

    def _read(self, function: CodeType | None, stays: list[str]) -> None:
        for called in self._called_by(function):
            if function is not None and called.co_filename != function.co_filename and self._is_plain(called):
                continue
            _go(called, stays)
            self._read(called, stays)
            if function is not None:
                _go(function, stays)

    def _called_by(self, function: CodeType | None) -> list[CodeType]:
        return [called for called, caller in self._callers.items() if caller is function]

    def _is_plain(self, function: CodeType) -> bool:
        """Whether it need not be opened: it is short, and so is all that it calls."""
        last = max(line for _, _, line in function.co_lines() if line is not None)
        return last - function.co_firstlineno < SHORT and all(map(self._is_plain, self._called_by(function)))


def returns(stays: list[str]) -> int:
    """How often modules are visited that were left before."""
    return len(stays) - len(set(stays))


def _is_search(code: CodeType) -> bool:
    return code.co_filename.startswith(SEARCH) and not code.co_name.startswith("<")


def _go(function: CodeType, stays: list[str]) -> None:
    module = function.co_filename.removeprefix(SEARCH)
    if not stays or stays[-1] != module:
        stays.append(module)
