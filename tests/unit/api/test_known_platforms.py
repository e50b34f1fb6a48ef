"""The platform that a request names: by slug or id, or the only one."""

import pytest

from api.errors import ApiError
from api.known_platforms import known_platform, platform_or_only
from mappings.platforms import Platforms, read_platforms

(CS2,) = read_platforms()
ONE = Platforms([CS2])
TWO = Platforms([CS2, CS2.model_copy(update={"id": 1, "slug": "one"})])


def test_a_platform_is_named_by_its_slug_or_its_id() -> None:
    for reference in ("cs2", "730", 730):
        assert known_platform(TWO, reference) is platform_or_only(TWO, reference) is CS2


@pytest.mark.parametrize("reference", ["dota", "0730", "", "7" * 60_000, 2, -1])
def test_an_unknown_platform_is_refused_with_the_known_ones(reference: str | int) -> None:
    with pytest.raises(ApiError, match=r"known are 1 \(one\), 730 \(cs2\)") as refusal:
        known_platform(TWO, reference)
    assert (refusal.value.code, [detail.field for detail in refusal.value.details]) == (
        "unknown_platform",
        ["platform"],
    )
    assert len(str(refusal.value)) < 300


def test_the_only_platform_need_not_be_named() -> None:
    assert platform_or_only(ONE, None) is CS2
    with pytest.raises(ApiError, match="name one") as refusal:
        platform_or_only(TWO, None)
    assert refusal.value.code == "validation_failed"
