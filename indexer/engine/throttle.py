"""The pace: what became of each bulk request in; how large requests are and how many run at once out. Pure: no clock.

It climbs: one of the two is changed for a while and stays changed only where clearly more went through. Where the
engine pushes back it yields at once, by half, and lets things rest before it tries for more.
"""

from typing import NamedTuple

MEBIBYTE = 1024 * 1024
LEAST_BYTES = 64 * 1024
MOST_BYTES = 8 * MEBIBYTE
# What all requests on their way hold together, whatever the pace: memory does not grow with senders.
MOST_BYTES_IN_FLIGHT = 16 * MEBIBYTE
MOST_SENDERS = 16

BETTER = 1.1  # a smaller gain may be noise
WINDOW_SECONDS = 2.0  # for how long a setting is tried; over such a time an engine's refreshes and merges even out
WINDOW_ANSWERS = 4
REST_WINDOWS = 30  # a minute until it is tried again whether something has changed
FIRST_WINDOWS = 5  # before the first trial: a load that is over soon cannot win back what trying costs
SLOW_SECONDS = 15.0  # a quarter of the client's timeout: requests that take so long are too large


class Setting(NamedTuple):
    """How many bytes a request has, and how many run at once."""

    bytes: int
    senders: int


FIRST = Setting(4 * MEBIBYTE, 2)


class Pace:
    """Finds a setting; every number is in bytes and seconds, `now` on a clock that never goes back."""

    def __init__(self, most_senders: int, now: float) -> None:
        self._most_senders = most_senders
        self._most_bytes = MOST_BYTES
        self._setting = self._bounded(FIRST)
        self._kept = self._setting  # what a trial goes back to
        self._kept_rate = 0.0
        self._trials: list[Setting] = []
        self._better: tuple[Setting, float] | None = None  # a trial that went well, and its rate, until that is sure
        self._rest = FIRST_WINDOWS - 1
        self._cut_at = -1.0
        self._begin(now)
        self.pushed_back = 0  # how often it yielded

    @property
    def setting(self) -> Setting:
        """What is in force now."""
        return self._setting

    def as_json(self) -> dict[str, int]:
        """What was found, and how often the engine pushed back."""
        return {**self._setting._asdict(), "pushedBack": self.pushed_back}

    def answered(self, size: int, seconds: float, now: float) -> None:
        """A request of this size was done in so many seconds."""
        self._bytes += size
        self._answers += 1
        if seconds > SLOW_SECONDS:
            self._yield(Setting(size // 2, self._kept.senders), now, seconds)
            return
        passed = now - self._since
        if passed >= WINDOW_SECONDS and self._answers >= WINDOW_ANSWERS:
            self._judge(self._bytes / passed)
            self._begin(now)

    def pushed(self, seconds: float, now: float) -> None:
        """A request that took so many seconds was refused, as a whole or in part, because the engine has too much."""
        kept = self._kept
        fewer = kept._replace(senders=kept.senders // 2) if kept.senders > 1 else kept._replace(bytes=kept.bytes // 2)
        self._yield(fewer, now, seconds)

    def too_large(self, size: int, now: float) -> None:
        """A request was refused for its size: none is ever so large again."""
        self._most_bytes = max(1, min(self._most_bytes, size // 2))
        self._settle(self._kept, now)

    def _yield(self, setting: Setting, now: float, seconds: float) -> None:
        if now - seconds < self._cut_at:
            return  # it was sent before the last cut and says nothing about what came of that
        self._cut_at = now
        self.pushed_back += 1
        self._settle(setting, now)

    def _settle(self, setting: Setting, now: float) -> None:
        self._setting = self._kept = self._bounded(setting)
        self._trials = []
        self._better = None
        self._rest = REST_WINDOWS
        self._begin(now)

    def _begin(self, now: float) -> None:
        self._since = now
        self._bytes = self._answers = 0

    def _judge(self, rate: float) -> None:
        """A window is over: keeps or drops what was tried in it, and begins what comes next.

        What goes better than before is compared with a window after it too: an engine is slower for a while now and
        then, as when it writes out what it holds, and whatever is tried next seems better than that.
        """
        if self._setting != self._kept:
            if rate >= self._kept_rate * BETTER:
                self._better, self._setting = (self._setting, rate), self._kept
                return
        elif self._better is not None:
            self._kept_rate = rate
            (setting, its_rate), self._better = self._better, None
            if its_rate >= rate * BETTER:
                self._kept, self._kept_rate = setting, its_rate
                self._trials = self._neighbours()
        else:
            self._kept_rate = rate
            if self._rest:
                self._rest -= 1
                return
            self._trials = self._neighbours()
        if self._trials:
            self._setting = self._trials.pop(0)
        else:
            self._setting = self._kept
            self._rest = REST_WINDOWS

    def _neighbours(self) -> list[Setting]:
        """What may be better than what is kept: more at once, larger, fewer, smaller."""
        size, senders = self._kept
        # what makes room for more of the one is less of the other
        larger = Setting(size * 2, min(senders, max(1, MOST_BYTES_IN_FLIGHT // (size * 2))))
        more, fewer = senders + max(1, senders // 2), senders - max(1, senders // 3)
        steps = (Setting(size, more), larger, Setting(size, fewer), Setting(size // 2, senders))
        return [step for step in dict.fromkeys(map(self._bounded, steps)) if step != self._kept]

    def _bounded(self, setting: Setting) -> Setting:
        senders = max(1, min(setting.senders, self._most_senders))
        most = min(self._most_bytes, MOST_BYTES, MOST_BYTES_IN_FLIGHT // senders)
        return Setting(max(min(LEAST_BYTES, most), min(setting.bytes, most)), senders)
