"""The gear item: every key in every answer, and the limits of what can be loaded."""

from typing import Any

import pytest
from pydantic import ValidationError

from mappings.items.item import MAX_ATTACHMENTS, MAX_INTEGER, MIN_INTEGER, GearItem

LEAST: dict[str, Any] = {"id": 1, "name": "x"}


def item(**more: Any) -> GearItem:
    return GearItem.model_validate({**LEAST, **more})


def test_every_key_is_there_and_what_is_not_known_is_null() -> None:
    assert item().model_dump(by_alias=True) == {
        "id": 1,
        "name": "x",
        "price": None,
        "image": None,
        "inspectLink": None,
        "description": None,
        "details": dict.fromkeys(
            ("type", "weapon", "set", "quality", "rarity", "exterior", "phase", "tournament", "color")
        ),
        "paint": dict.fromkeys(("float", "seed", "index", "pattern")),
        "attachments": [],
    }
    assert item(details=None, paint=None, attachments=None) == item()


@pytest.mark.parametrize(
    "field",
    [
        {"id": MIN_INTEGER},
        {"id": MAX_INTEGER},
        {"name": "x" * 512},
        {"name": "★ ™ ♥ 龍王"},
        {"price": 0},
        {"price": 10**12},
        {"price": 0.1},
        {"image": "x" * 2048},
        {"inspectLink": "steam://rungame/730/7"},
        {"description": ""},
        {"description": "x" * 10_000},
        {"details": {"type": "x" * 256}},
        {"paint": {"float": 0}},
        {"paint": {"float": 1}},
        {"paint": {"seed": MAX_INTEGER, "index": MIN_INTEGER, "pattern": 0}},
        {"attachments": [{"name": "x", "id": 1, "wear": 0.5, "type": "sticker", "image": "y"}] * MAX_ATTACHMENTS},
    ],
)
def test_what_is_just_inside_the_limits_is_preserved(field: dict[str, Any]) -> None:
    dumped = item(**field).model_dump(by_alias=True)
    for name, value in field.items():
        if isinstance(value, dict):
            assert dumped[name] | value == dumped[name]
        else:
            assert dumped[name] == value


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ({"id": None}, "id"),
        ({"id": "1"}, "id"),
        ({"id": True}, "id"),
        ({"id": 1.0}, "id"),
        ({"id": MIN_INTEGER - 1}, "id"),
        ({"id": MAX_INTEGER + 1}, "id"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x" * 513}, "name"),
        ({"price": -0.01}, "price"),
        ({"price": 10**12 + 1}, "price"),
        ({"price": "1"}, "price"),
        ({"price": True}, "price"),
        ({"price": float("nan")}, "price"),
        ({"price": float("inf")}, "price"),
        ({"image": ""}, "image"),
        ({"image": "x" * 2049}, "image"),
        ({"inspectLink": "x" * 2049}, "inspectLink"),
        ({"description": "x" * 10_001}, "description"),
        ({"details": {"type": ""}}, "details.type"),
        ({"details": {"type": "x" * 257}}, "details.type"),
        ({"details": {"colour": "red"}}, "details.colour"),
        ({"details": []}, "details"),
        ({"paint": {"float": -0.1}}, "paint.float"),
        ({"paint": {"float": 1.0000001}}, "paint.float"),
        ({"paint": {"float": "0.5"}}, "paint.float"),
        ({"paint": {"seed": 1.5}}, "paint.seed"),
        ({"paint": {"pattern": MAX_INTEGER + 1}}, "paint.pattern"),
        ({"attachments": [{}]}, "attachments.0.name"),
        ({"attachments": [{"name": "x", "wear": 2}]}, "attachments.0.wear"),
        ({"attachments": [{"name": "x"}] * (MAX_ATTACHMENTS + 1)}, "attachments"),
        ({"attachments": {}}, "attachments"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_just_outside_is_refused_and_named(field: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        item(**field)
    assert ".".join(map(str, refusal.value.errors()[0]["loc"])) == place
