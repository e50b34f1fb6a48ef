"""What comes first among equal matches: the plain version, the popular, the name with fewer words."""

from typing import Any

from indexer.documents.checked_item import checked_item
from indexer.documents.document import name_features, rank_of
from mappings.platforms import Relevance, read_platforms

CS2 = next(iter(read_platforms())).relevance


def rank(name: str, relevance: Relevance = CS2, **details: Any) -> int:
    item = checked_item({"id": 1, "name": name, "details": details})
    return rank_of(item.details, name_features(name, details.get("weapon"), details.get("exterior")).words, relevance)


def test_plain_comes_before_stattrak_before_souvenir() -> None:
    qualities = ("Normal", "★", None, "StatTrak™", "★ StatTrak™", "Souvenir")
    groups = [rank("x", quality=quality) // 10**10 for quality in qualities]
    assert groups == [0, 0, 0, 1, 1, 2]


def test_popular_weapons_come_first_then_popular_types_then_the_rest() -> None:
    ranks = [
        rank("x", weapon="AK-47", type="Rifle"),
        rank("x", weapon="M249", type="Machinegun"),
        rank("x", weapon="A new rifle", type="Rifle"),
        rank("x", type="Sticker"),
        rank("x", type="Sticker Slab"),
        rank("x", type="A new type"),
    ]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    assert rank("x") == rank("x", type="A new type")


def test_fewer_words_come_first_and_many_words_outrank_nothing_else() -> None:
    short, long = rank("Karambit | Doppler"), rank("Karambit | Gamma Doppler")
    assert short < long
    worn = rank("Deagle | Oxide Blaze (Well-Worn)", exterior="Well-Worn")
    assert rank("Deagle | Blaze (Minimal Wear)", exterior="Minimal Wear") < worn
    assert rank("x " * 256, type="Sticker") < rank("x", type="Sticker Slab")


def test_a_platform_without_an_order_ranks_by_words_alone() -> None:
    assert rank("one two", Relevance(), quality="Souvenir", weapon="AK-47") == 2


def test_stickers_without_a_tournament_come_first_then_those_of_the_famous_ones() -> None:
    names = [None, "Katowice 2014", "Cologne 2026", "A new tournament"]
    ranks = [rank("x", type="Sticker", tournament=name) for name in names]
    assert ranks == sorted(set(ranks))
