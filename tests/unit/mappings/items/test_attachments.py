"""The tokens of attachments: looked up as keywords are, they find what the attachments themselves say."""

from decimal import Decimal
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from api.search.query.attachments import attachment_clause
from api.search.schemas.attachments import AttachmentFilter
from mappings.definition import read_definition
from mappings.folding import fold
from mappings.items.attachments import ENCODING, attachment_tokens, wear_key

# Names that fold to the same, to nothing, to a part of a token; and any text at all.
NAMES = st.sampled_from(["NiKo", "niko ", "Ōni", "oni", "★", "™", " ", "a", "a1", "a\x1f1", "a\x1f1:", "\x1fe29885"])
ANY_NAMES = NAMES | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
WEARS = st.sampled_from([0.0, -0.0, 5e-324, 0.1, 0.1 + 2**-55, 0.5, 1.0]) | st.floats(0, 1)
ATTACHMENTS = st.lists(st.tuples(ANY_NAMES, st.none() | WEARS), max_size=8)


def matches(clause: dict[str, Any], tokens: list[str]) -> bool:
    """Whether a clause holds for these keywords: keywords are compared by their bytes in UTF-8."""
    (kind, condition), *_ = clause.items()
    if kind == "term":
        return condition["attachments"] in tokens
    if kind == "range":
        bounds = condition["attachments"]
        return any(bounds["gte"].encode() <= token.encode() <= bounds["lte"].encode() for token in tokens)
    return any(matches(alternative, tokens) for alternative in condition["should"])


def meets(attachments: list[tuple[str, float | None]], **conditions: Any) -> bool:
    """Whether the tokens of these attachments meet a condition, as the service asks for it."""
    exact = {key: Decimal(value) if key.endswith("Wear") else value for key, value in conditions.items()}
    clause = attachment_clause(AttachmentFilter.model_validate({"all": [exact]}))
    assert clause is not None
    return matches(clause, attachment_tokens(attachments))


def of_the_name(attachments: list[tuple[str, float | None]], name: str) -> list[float | None]:
    """The wears of the attachments of a name; folding has tests of its own."""
    return [wear for attached, wear in attachments if (fold(attached) or attached) == (fold(name) or name)]


@given(ATTACHMENTS, ANY_NAMES, st.integers(1, 5))
@example([("NiKo", 0.1), ("niko", 0.2), ("NIKO", None)], "niko", 3)
def test_so_many_of_a_name_with_or_without_wear(
    attachments: list[tuple[str, float | None]], name: str, count: int
) -> None:
    assert meets(attachments, name=name, count=count) == (len(of_the_name(attachments, name)) >= count)


@given(ATTACHMENTS, ANY_NAMES, WEARS, st.integers(1, 5))
@example([("NiKo", 0.1), ("niko", 0.2), ("NIKO", None)], "niko", 1.0, 3)
def test_so_many_no_more_worn(attachments: list[tuple[str, float | None]], name: str, most: float, count: int) -> None:
    fit = [wear for wear in of_the_name(attachments, name) if wear is not None and wear <= most]
    assert meets(attachments, name=name, maxWear=most, count=count) == (len(fit) >= count)
    assert meets(attachments, name=name, maxWear=most) == (len(fit) >= 1)


@given(ATTACHMENTS, ANY_NAMES, WEARS, WEARS)
@example([("a", 0.0), ("a", 0.5), ("a", 1.0)], "a", 0.4, 0.6)
def test_one_within_bounds(attachments: list[tuple[str, float | None]], name: str, low: float, high: float) -> None:
    low, high = sorted((low, high))
    worn = [wear for wear in of_the_name(attachments, name) if wear is not None]
    assert meets(attachments, name=name, minWear=low, maxWear=high) == any(low <= wear <= high for wear in worn)
    assert meets(attachments, name=name, minWear=low) == any(low <= wear for wear in worn)


@given(st.lists(WEARS))
def test_wears_sort_as_numbers_do(wears: list[float]) -> None:
    assert [wear_key(wear) for wear in sorted(wears)] == sorted(wear_key(wear) for wear in wears)
    assert wear_key(-0.0) == wear_key(0.0)


def test_the_definition_names_the_encoding_so_that_a_change_of_it_asks_for_a_load() -> None:
    assert read_definition().body["mappings"]["properties"]["attachments"]["meta"] == {"encoding": ENCODING}
    attachments = [("Sticker | Crown (Foil)", 0.5), ("sticker | CROWN (foil)", 0.0), ("★", None)]
    assert attachment_tokens(attachments) == [
        "sticker | crown (foil)\x1f1",
        "sticker | crown (foil)\x1f2",
        "sticker | crown (foil)\x1f1:0000000000000000",
        "sticker | crown (foil)\x1f2:3fe0000000000000",
        "sticker | crown (foil)\x1f+:3fe0000000000000",
        "\x1fe29885\x1f1",
    ], "raise ENCODING with any change of these"
