"""The rules before a swap: which counts are refused, and in what words."""

import pytest

from indexer.loading.job import LoadJob
from indexer.loading.rules import PriceChanges, broken_rules
from mappings.platforms import read_platforms

ALL_ACCEPTED = {"read": 100, "accepted": 100, "rejected": 0, "serving": 0, "rejects": None, "prices": PriceChanges()}


def _broken_rules(limits: dict[str, object], counts: dict[str, object]) -> list[str]:
    platform = read_platforms().by_reference("730")
    assert platform is not None
    job = LoadJob(files=("-",), platform=platform, **limits)  # type: ignore[arg-type]  # any of its limits
    return broken_rules(job, **{**ALL_ACCEPTED, **counts})  # type: ignore[arg-type]  # any of its counts


@pytest.mark.parametrize(
    ("limits", "counts", "options"),
    [
        ({}, {}, []),
        ({}, {"rejected": 1, "accepted": 99}, []),
        ({}, {"rejected": 2, "accepted": 98}, ["--max-rejects"]),
        ({"max_rejects": 2}, {"rejected": 2, "accepted": 98}, []),
        ({}, {"read": 0, "accepted": 0}, ["--allow-empty"]),
        ({"allow_empty": True}, {"read": 0, "accepted": 0, "serving": 50}, []),
        ({}, {"serving": 200}, []),
        ({}, {"serving": 201}, ["--min-share"]),
        ({"min_share": 0}, {"serving": 9999}, []),
        ({}, {"prices": PriceChanges(compared=10, changed=5)}, []),
        ({}, {"prices": PriceChanges(compared=10, changed=6)}, ["--max-price-change"]),
        ({}, {"prices": PriceChanges(compared=9, changed=9)}, []),
        ({"max_price_change": 100}, {"prices": PriceChanges(compared=10, changed=10)}, []),
        ({}, {"rejected": 100, "accepted": 0}, ["--max-rejects", "--allow-empty"]),
        ({}, {"rejected": 50, "accepted": 50, "serving": 1000}, ["--max-rejects", "--min-share"]),
    ],
)
def test_every_rule_names_the_option_that_lifts_it(
    limits: dict[str, object], counts: dict[str, object], options: list[str]
) -> None:
    sentences = _broken_rules(limits, counts)
    assert len(sentences) == len(options)
    assert all(option in sentence for option, sentence in zip(options, sentences, strict=True))


def test_the_file_of_rejects_is_named() -> None:
    [sentence] = _broken_rules({}, {"rejected": 9, "rejects": "mine.ndjson"})
    assert sentence == "9 of 100 items were refused, more than 1 % (--max-rejects); mine.ndjson says why"
