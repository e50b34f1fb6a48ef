"""Folding: case, accents, ★ and ™, outer and double blanks do not count; everything else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.folding import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("★ StatTrak™ Bayonet", "stattrak bayonet"),
        ("  Sticker |  niko\t\n London ", "sticker | niko london"),
        ("Saïba Ōni", "saiba oni"),
        ("Sai\u0308ba", "saiba"),
        ("Straße Ærø ŁÓDŹ", "strasse aero lodz"),
        ("İstanbul", "istanbul"),
        ("ＡＫ－４７", "ak-47"),
        ("龍王 ♥ ~$'", "龍王 ♥ ~$'"),
        ("crown ™", "crown"),
        ("a\0b\x1fc\x85d\u2028e", "a b c d e"),
        ("ΣΑΣ", "σασ"),
        ("★ ™ \u0301\0", ""),
    ],
)
def test_texts_are_compared_by_what_counts(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_a_folded_text_has_no_control_characters_and_no_blanks_to_spare(text: str) -> None:
    folded = fold(text)
    assert folded == " ".join(folded.split())
    assert all(character >= " " for character in folded)
    assert fold(f" ★{text}™ ") == folded
