"""Of which finish an item must be, beside a weapon, its kind or an order."""

import pytest

from api.search.parsing.parse import parse_query
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


@pytest.mark.parametrize(
    ("text", "finishes"),
    [
        ("cheapest doppler", ("doppler",)),
        ("cheapest ak crimson web", ("crimson web",)),
        ("cheapest cw", ("crimson web",)),
        ("cheapest xray", ("x-ray",)),
        ("m4a4 neo noir", ("neo-noir",)),
        ("p250 boom", ("boom", "boom!")),
        ("karambit fade (100% fade)", ("fade",)),
        ("데저트 이글 주홍 불길", ("blaze", "blaze orange")),  # which both are called so
        ("cheapest fade or doppler", ("fade", "doppler")),
        ("cheapest dragon lores and fire serpents", ("dragon lore", "fire serpent")),
        ("sawed-off crimson batik well played", ()),
        ("cheapest ak", ()),
        ("doppler", ()),
        ("doppler phase 2", ("doppler",)),
        ("doppler emerald", ()),  # which only a longer one has
        ("specialist fade gloves", ("fade",)),
        ("glossy fade gloves", ()),
    ],
)
def test_a_finish_is_the_one_of_just_that_name(text: str, finishes: tuple[str, ...]) -> None:
    assert parse_query(text, [CS2]).parses[0].finishes == finishes
