"""A signal interrupts a command once, and never within what it must finish; a second one has its default effect."""

import signal
from collections.abc import Iterator

import pytest

from indexer.cli.context import Interruption

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def default() -> Iterator[list[int]]:
    """The signals that reached the handlers from before the command."""
    reached: list[int] = []
    before = {number: signal.signal(number, lambda number, _: reached.append(number)) for number in BOTH}
    yield reached
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_interrupts_once(default: list[int], number: signal.Signals) -> None:
    def command() -> None:
        with Interruption().watched():
            try:
                signal.raise_signal(number)
            finally:
                signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        command()
    assert default == [number]


@pytest.mark.parametrize("number", BOTH)
def test_on_hold_a_signal_interrupts_after_the_block(default: list[int], number: signal.Signals) -> None:
    finished: list[str] = []

    def command(interruption: Interruption) -> None:
        with interruption.watched():
            try:
                with interruption.hold():
                    signal.raise_signal(number)
                    signal.raise_signal(number)
                    finished.append("the swap")
            finally:
                signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        command(Interruption())
    assert finished
    assert default == [number]
