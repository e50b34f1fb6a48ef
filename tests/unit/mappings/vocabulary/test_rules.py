"""Pins and hides by their texts: as buyers write them, bounded, and a hide is stronger than a pin."""

import pytest
from pydantic import ValidationError

from mappings.vocabulary.rules import MAX_PINNED, Hide, Pin, Rules, TextRules, rules_of


def test_without_rules_a_text_has_none() -> None:
    assert Rules().of_text(730, "awp") == TextRules(730)


def test_texts_are_compared_by_their_letters() -> None:
    rules = rules_of(
        [Pin(texts=("AK-47 Redline", "ak"), names=("a", "b")), Pin(texts=("ak47 redline",), names=("c", "a"))], []
    )
    for text in ("ak47 redline", "AK 47  Rédline!", "ak-47-redline"):
        assert rules.of_text(730, text).pinned == ("a", "b", "c")
    assert rules.of_text(730, "ak").pinned == ("a", "b")
    assert rules.of_text(730, "redline").pinned == ()
    assert rules.of_text(730, " ! ").pinned == ()


def test_hides_are_of_a_text_or_of_all_and_stronger_than_pins() -> None:
    hides = [Hide(names=("a",)), Hide(texts=("ak",), names=("b", "a"))]
    rules = rules_of([Pin(texts=("ak", "awp"), names=("a", "b", "c"))], hides)
    assert rules.of_text(730, "AK") == TextRules(730, pinned=("c",), hidden=("a", "b"))
    assert rules.of_text(730, "awp") == TextRules(730, pinned=("b", "c"), hidden=("a",))
    assert rules.of_text(730, "") == TextRules(730, hidden=("a",))


def test_a_text_has_so_many_pins() -> None:
    pins = [Pin(texts=("ak",), names=(str(number),)) for number in range(MAX_PINNED + 1)]
    assert len(rules_of(pins, []).of_text(730, "ak").pinned) == MAX_PINNED


@pytest.mark.parametrize("texts", [(), ("...",)])
def test_a_pin_needs_a_text_with_words(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        Pin(texts=texts, names=("a",))
