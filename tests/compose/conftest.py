"""The deployment that the tests of this folder share: built, started and loaded once, removed at the end."""

from collections.abc import Iterator

import pytest

from tests.support.compose.deployment import Deployment, require_engine


@pytest.fixture(scope="session")
def deployment() -> Iterator[Deployment]:
    """A running deployment with a token; fails with how to get an engine where there is none."""
    require_engine()
    deployment = Deployment()
    try:
        deployment.up("--build")
        deployment.token = deployment.new_token()
        yield deployment
    finally:
        deployment.remove()
