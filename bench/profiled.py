"""`python -m bench.profiled FILE COMMAND…`: a command of this project in; it runs here, and where its processor time
went is in the file when it ends.

Every millisecond of processor time the innermost function is noted whose module says whose work it is: json called
by our code is ours, a socket written to by the client library is the client library's. What the event loop and the
kernel do between two functions is noted for the next one.
"""

import json
import signal
import sys
import sysconfig
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType

TICK_SECONDS = 0.001
_OURS = str(Path(__file__).parents[1])
_INSTALLED = sysconfig.get_paths()["purelib"]


class Sampler:
    """Counts, for each tick of processor time, whose function was running."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def begin(self) -> None:
        """Counts from now on."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)

    def end(self) -> Counter[str]:
        """Stops, and tells the counts."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        return self._counts

    def _tick(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            name = owner(frame.f_code.co_filename)
            if name:
                self._counts[name] += 1
                return
            frame = frame.f_back
        self._counts["python"] += 1


def owner(file: str) -> str:
    """Whose work a file's code does: a library's name, a module of ours, or nobody's (the standard library's)."""
    if file.startswith(_INSTALLED):
        return file[len(_INSTALLED) + 1 :].partition("/")[0].removesuffix(".py")
    if file.startswith(_OURS) and "site-packages" not in file:
        return file[len(_OURS) + 1 :].removesuffix(".py").replace("/", ".")
    return ""


def main() -> None:
    """Runs the command to its end; counts from SIGUSR1 to SIGTERM."""
    written, name, *arguments = sys.argv[1:]
    sys.argv = [name, *arguments]
    command = next(iter(entry_points(group="console_scripts", name=name))).load()
    sampler = Sampler()
    signal.signal(signal.SIGUSR1, lambda *_: sampler.begin())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # the server raises it again when it has ended
    try:
        command()
    finally:
        Path(written).write_text(json.dumps(sampler.end()), encoding="utf-8")


if __name__ == "__main__":
    main()
