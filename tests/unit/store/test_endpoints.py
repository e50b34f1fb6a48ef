"""Endpoints: which callback addresses one covers, and which of several."""

import pytest

from store.endpoints import Endpoint, covering
from tests.support.store.fixtures import NOW


def endpoint(url: str, *, exact: bool = False) -> Endpoint:
    return Endpoint(id=f"ep_{url}", token_id="tok_1", url=url, exact=exact, secret="whsec_", created_at=NOW)


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://shop.example/hooks", True),
        ("https://shop.example/hooks?order=1", True),
        ("https://shop.example/hooks/", True),
        ("https://shop.example/hooks/gear/1?x=/../", True),
        ("https://SHOP.example:443/hooks/a", True),
        ("https://shop.example/hooks2", False),
        ("https://shop.example/hook", False),
        ("https://shop.example/", False),
        ("https://shop.example.evil.example/hooks", False),
        ("https://evil.example/https://shop.example/hooks", False),
        ("https://shop.example:8443/hooks", False),
        ("http://shop.example/hooks", False),
        ("https://shop.example/hooks/../admin", False),
        ("https://shop.example/hooks/..", False),
        ("https://shop.example/hooks/%2e%2e/admin", False),
        ("https://shop.example/hooks/..%2fadmin", False),
        ("https://shop.example/hooks/..;a=b/admin", False),
        ("https://shop.example/hooks/..%5cadmin", False),
    ],
)
def test_an_endpoint_covers_what_is_below_its_path(url: str, covered: bool) -> None:
    assert endpoint("https://shop.example/hooks").covers(url) is covered
    assert endpoint("https://shop.example/hooks/gear").covers("https://shop.example/hooks") is False


def test_a_host_alone_covers_all_of_it() -> None:
    for url in ("https://shop.example", "https://shop.example/"):
        assert all(endpoint(url).covers(below) for below in ("https://shop.example/", "https://shop.example/a?b"))


def test_an_exact_endpoint_covers_itself_alone() -> None:
    exact = endpoint("https://shop.example/hooks?key=1", exact=True)
    others = ("https://shop.example/hooks", "https://shop.example/hooks?key=2", "https://shop.example/hooks?key=1&a")
    assert [exact.covers(url) for url in (exact.url, *others)] == [True, False, False, False]


def test_the_longest_endpoint_covers() -> None:
    short, long = endpoint("https://shop.example/"), endpoint("https://shop.example/hooks")
    assert covering([short, long], "https://shop.example/hooks/1") is long
    assert covering([long, short], "https://shop.example/other") is short
    assert covering([long], "https://shop.example/other") is None
