"""Platform files: a good one becomes a platform found by id and slug, a bad one says which file and what is wrong."""

from itertools import pairwise
from pathlib import Path

import pytest

from mappings.platforms import Platform, PlatformFileError, Platforms, read_platforms

GOOD = 'id = 570\nslug = "dota2"\nname = "Dota 2"\ncurrency = "USD"\nminor_digits = 2\n'


def platform(number: int, slug: str, currency: str = "USD", digits: int = 2) -> Platform:
    return Platform(id=number, slug=slug, name=slug, currency=currency, minor_digits=digits)


def test_the_platform_that_ships_is_counter_strike() -> None:
    platforms = read_platforms()
    assert platforms.describe() == "730 (cs2)"
    assert [band.name for band in next(iter(platforms)).exterior] == [
        "Factory New",
        "Minimal Wear",
        "Field-Tested",
        "Well-Worn",
        "Battle-Scarred",
    ]


def test_the_wear_bands_that_ship_cover_0_to_1_without_gap_or_overlap() -> None:
    bands = next(iter(read_platforms())).exterior
    assert (bands[0].low, bands[-1].high) == (0, 1)
    assert all(band.high == following.low for band, following in pairwise(bands))


def test_adding_a_game_is_adding_a_file(tmp_path: Path) -> None:
    (tmp_path / "570.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "10.toml").write_text(GOOD.replace("570", "10").replace("dota2", "cs1"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a platform", encoding="utf-8")
    platforms = read_platforms(tmp_path)
    assert [game.id for game in platforms] == [10, 570]
    assert len(platforms) == 2
    assert platforms.describe() == "10 (cs1), 570 (dota2)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id = ", "Invalid value"),
        ("", "Field required"),
        (GOOD.replace("570", "-1"), "greater than or equal to 0"),
        (GOOD.replace("570", str(2**31)), "less than"),
        (GOOD.replace("570", '"x"'), "valid integer"),
        (GOOD.replace('"dota2"', '"Dota2"'), "should match pattern"),
        (GOOD.replace('"dota2"', '"570"'), "should match pattern"),
        (GOOD.replace('"Dota 2"', '""'), "at least 1 character"),
        (GOOD.replace("USD", "usd"), "should match pattern"),
        (GOOD.replace("USD", "USDT"), "should match pattern"),
        (GOOD.replace("minor_digits = 2", "minor_digits = 3"), "less than or equal to 2"),
        (GOOD + "min_price = 0.005\n", "has more than 2 decimals"),
        (GOOD + "min_price = -1\n", "greater than or equal to 0"),
        (GOOD + "colour = 1\n", "colour"),
        (GOOD + '[order.platform_id]\nname = "x"\npattern = "("\nleast = 0\nmost = 1\n', "is no regular expression"),
        (GOOD + '[[exterior]]\nname = "x"\ncodes = []\nfrom = 0.5\nto = 1.5\n', "less than or equal to 1"),
        (GOOD + '[[exterior]]\nname = "x"\ncodes = []\nfrom = 0.5\nto = 0.2\n', "begins at 0.5 but ends at 0.2"),
        (GOOD + 2 * '[[exterior]]\nname = "x"\ncodes = []\nfrom = 0\nto = 1\n', "two exteriors have the same name"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "570.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PlatformFileError) as refusal:
        read_platforms(tmp_path)
    assert str(file) in str(refusal.value)
    assert message in str(refusal.value)


def test_a_file_that_is_not_utf_8_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "570.toml"
    file.write_bytes(GOOD.encode().replace(b"Dota", b"D\xf6ta"))
    with pytest.raises(PlatformFileError, match=r"570\.toml.*utf-8"):
        read_platforms(tmp_path)


def test_a_file_is_named_after_its_id(tmp_path: Path) -> None:
    (tmp_path / "571.toml").write_text(GOOD, encoding="utf-8")
    with pytest.raises(PlatformFileError, match=r"its id is 570, so its name must be 570\.toml"):
        read_platforms(tmp_path)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformFileError, match="no platform file"):
        read_platforms(tmp_path)
    with pytest.raises(PlatformFileError, match="no platform file"):
        read_platforms(tmp_path / "absent")


def test_two_files_cannot_share_an_id_or_a_slug(tmp_path: Path) -> None:
    with pytest.raises(PlatformFileError, match="the same id or the same slug"):
        Platforms([platform(1, "a"), platform(1, "b")])
    (tmp_path / "570.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "571.toml").write_text(GOOD.replace("570", "571"), encoding="utf-8")
    with pytest.raises(PlatformFileError, match="the same id or the same slug"):
        read_platforms(tmp_path)


def test_one_currency_has_one_number_of_minor_digits() -> None:
    with pytest.raises(PlatformFileError, match="another number of minor digits"):
        Platforms([platform(1, "a", "USD", 2), platform(2, "b", "USD", 0)])
    assert len(Platforms([platform(1, "a", "USD", 2), platform(2, "b", "JPY", 0), platform(3, "c", "USD", 2)])) == 3


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        ("cs2", 730),
        ("730", 730),
        ("0", 0),
        ("", None),
        ("CS2", None),
        ("0730", None),
        ("730 ", None),
        ("+730", None),
        ("-730", None),
        ("730.0", None),
        ("٧٣٠", None),
        ("731", None),
        ("9" * 5000, None),
    ],
)
def test_a_platform_is_found_by_slug_and_by_its_id_in_canonical_decimal(reference: str, number: int | None) -> None:
    platforms = Platforms([platform(730, "cs2"), platform(0, "zero")])
    game = platforms.by_reference(reference)
    assert (game.id if game else None) == number


def test_a_platform_is_found_by_its_number() -> None:
    platforms = Platforms([platform(730, "cs2")])
    game = platforms.by_id(730)
    assert game is not None
    assert game.slug == "cs2"
    assert platforms.by_id(2**63) is None


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "570.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(PlatformFileError, match=r"570\.toml"):
        read_platforms(tmp_path)
