"""The clients' pages list every method of the client, and the operations of each as the service has them."""

import re
from typing import Any

import pytest
from gear_client import GearClient

from api.app import create_app
from api.settings import Settings
from tests.docs.pages import DOCS

CLIENTS = DOCS.parent / "clients"
READERS = {"searchAll": "search", "followChanges": "listChanges"}  # which call it again and again


def in_camel_case(name: str) -> str:
    """`list_orders` as `listOrders`."""
    return re.sub("_(.)", lambda letter: letter[1].upper(), name)


@pytest.fixture(scope="module")
def operations() -> dict[str, str]:
    """By their ids, as `GET /v1/orders`."""
    openapi: dict[str, Any] = create_app(Settings(_env_file=None)).openapi()
    return {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_every_method_is_listed_with_its_operation(language: str, operations: dict[str, str]) -> None:
    page = (CLIENTS / language / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z].*) \| (`.*) \|$", page, re.MULTILINE)
    listed: list[str] = []
    for methods, called in rows:
        names = [in_camel_case(name) for name in re.findall(r"`(.+?)`", methods)]
        wanted = list(dict.fromkeys(operations[READERS.get(name, name)] for name in names))
        assert re.findall(r"`(.+?)`", called) == wanted
        listed += names
    own = [name for name in vars(GearClient) if not name.startswith("_") and name != "close"]
    assert sorted(listed) == sorted(map(in_camel_case, own))
