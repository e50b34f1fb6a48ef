"""The orders' database of tests that load beside orders."""

import pytest

from tests.support.indexer.fixtures import Place
from tests.support.indexer.shop import Shop


@pytest.fixture
def shop(place: Place) -> Shop:
    return Shop(place.environment["GEAR_DATABASE_URL"]).open()
