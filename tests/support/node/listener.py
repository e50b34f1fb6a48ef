"""A talk whose sentences a test reads."""

from node.talk import QuietTalk


class Listener(QuietTalk):
    """Keeps the sentences."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)
