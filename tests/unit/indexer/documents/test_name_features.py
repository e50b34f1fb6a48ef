"""A finish is found behind a weapon's name, stickers among what is attached."""

import pytest

from indexer.documents.checked_item import CheckedAttachment
from indexer.documents.document import finish_of, name_features, sticker_names


@pytest.mark.parametrize(
    ("name", "weapon", "exterior", "finish"),
    [
        ("StatTrak™ AK-47 | Redline (Field-Tested)", "AK-47", "Field-Tested", "Redline"),
        ("M4A4 | 龍王 (Dragon King) (Field-Tested)", "M4A4", "Field-Tested", "龍王 (Dragon King)"),
        ("AK-47 | Redline", "AK-47", None, "Redline"),
        ("★ Karambit", "Karambit", None, None),
        ("AK-47 | (Field-Tested)", "AK-47", "Field-Tested", None),
        ("Sticker | Crown (Foil)", None, None, None),
    ],
)
def test_a_finish_is_what_a_weapon_is_painted_with(
    name: str, weapon: str | None, exterior: str | None, finish: str | None
) -> None:
    assert finish_of(name, weapon, exterior) == finish


def test_stickers_are_what_is_attached_and_not_something_else() -> None:
    on = [("A", "sticker"), ("B", "charm"), ("A", "Sticker"), ("C", None)]
    assert sticker_names([CheckedAttachment(name=name, type=kind) for name, kind in on]) == ["A", "C"]


def test_one_name_is_one_group_and_tells_each_weapon_and_exterior_its_own() -> None:
    name = "M4A4 | 龍王 (Dragon King) (Field-Tested)"
    worn, plain, other = (
        name_features(name, "M4A4", "Field-Tested"),
        name_features(name, "M4A4", None),
        name_features(name, None, None),
    )
    assert worn.group == plain.group == other.group != name_features(name.lower(), None, None).group
    assert (worn.finish, plain.finish, other.finish) == (
        "龍王 (Dragon King)",
        "龍王 (Dragon King) (Field-Tested)",
        None,
    )
    assert (worn.words, plain.words, name_features(name, "M4A4", "Well-Worn").words) == (5, 6, 6)
