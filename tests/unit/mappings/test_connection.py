"""The connection: addresses as people write them become a client's, and the password is shown nowhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch
from pydantic import ValidationError

from mappings.connection import SearchSettings, connect, connect_async

PASSWORD = "correct horse"
VARIABLES = ("URL", "USERNAME", "PASSWORD", "CA_CERTS")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(f"GEAR_OPENSEARCH_{name}", raising=False)
    monkeypatch.delenv("GEAR_INDEX_PREFIX", raising=False)
    monkeypatch.chdir(tmp_path)


def settings(**values: Any) -> SearchSettings:
    return SearchSettings(**values)


@pytest.fixture
def client() -> Iterator[OpenSearch]:
    configured = settings(opensearch_url="http://a:1, https://b,http://c/search/", opensearch_username="u")
    client = connect(configured)
    yield client
    client.close()


def hosts(client: OpenSearch) -> list[str]:
    return [connection.host for connection in client.transport.connection_pool.connections]


async def connections_of(client: AsyncOpenSearch) -> list[Any]:
    transport: Any = client.transport
    await transport._async_init()  # else it makes its connections with the first request
    return list(transport.connection_pool.connections)


def test_without_a_word_it_is_the_engine_of_this_machine() -> None:
    configured = settings()
    assert configured.opensearch_url == "http://127.0.0.1:9200"
    assert configured.alias(730) == "gear-730"


def test_several_addresses_are_all_used(client: OpenSearch) -> None:
    assert sorted(hosts(client)) == ["http://a:1", "http://c:9200", "https://b:443"]


def test_an_address_may_have_a_path(client: OpenSearch) -> None:
    prefixes = {connection.host: connection.url_prefix for connection in client.transport.connection_pool.connections}
    assert prefixes["http://c:9200"] == "/search"
    assert prefixes["http://a:1"] == ""


def login_of(client: OpenSearch) -> str | None:
    (connection,) = client.transport.connection_pool.connections
    headers = dict(connection.headers)
    return headers.get("authorization")


@pytest.mark.parametrize(
    "values",
    [
        {"opensearch_url": "http://shop%40x:correct%20horse@engine:9200"},
        {"opensearch_username": "shop@x", "opensearch_password": PASSWORD},
        {
            "opensearch_url": "http://other:else@engine",
            "opensearch_username": "shop@x",
            "opensearch_password": PASSWORD,
        },
    ],
)
def test_user_and_password_come_from_the_address_or_from_their_own_settings(values: dict[str, Any]) -> None:
    expected = "Basic c2hvcEB4OmNvcnJlY3QgaG9yc2U="  # base64 of shop@x:correct horse
    client = connect(settings(**values))
    try:
        assert login_of(client) == expected
    finally:
        client.close()


async def test_a_user_without_a_password_logs_in_with_an_empty_one() -> None:
    client = connect_async(settings(opensearch_url="http://shop@engine"))
    try:
        (connection,) = await connections_of(client)
        assert connection.headers["authorization"] == "Basic c2hvcDo="  # base64 of shop:
    finally:
        await client.close()


def test_without_a_user_nothing_is_sent() -> None:
    client = connect(settings())
    try:
        assert login_of(client) is None
    finally:
        client.close()


@pytest.mark.parametrize(
    "values",
    [
        {"opensearch_password": PASSWORD},
        {"opensearch_url": f"http://shop:{PASSWORD}@engine"},
    ],
)
def test_the_password_is_shown_nowhere(values: dict[str, Any]) -> None:
    configured = settings(**values)
    assert PASSWORD not in repr(configured) + str(configured)
    client = connect(configured)
    try:
        assert PASSWORD not in repr(client) + str(client) + repr(client.transport.connection_pool.connections)
    finally:
        client.close()


@pytest.mark.parametrize(
    "address",
    [
        f"ftp://shop:{PASSWORD}@engine",
        "",
        "http://",
        "engine:9200",
        "http://a,,http://b",
        "http://a:99999",
        "http://a:port",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        settings(opensearch_url=address)
    assert refusal.value.errors()[0]["loc"] == ("opensearch_url",)
    assert "http:// or https:// addresses" in str(refusal.value)
    assert PASSWORD not in str(refusal.value) + repr(refusal.value)


@pytest.mark.parametrize("prefix", ["", "-gear", "Gear", "gear_x", "gear*", "g" * 65, ".gear"])
def test_a_prefix_that_the_engine_would_refuse_is_refused(prefix: str) -> None:
    with pytest.raises(ValidationError, match="index_prefix"):
        settings(index_prefix=prefix)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", "https://engine")
    monkeypatch.setenv("GEAR_INDEX_PREFIX", "shop")
    assert (settings().opensearch_url, settings().alias(1)) == ("https://engine", "shop-1")


def test_settings_come_from_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GEAR_INDEX_PREFIX=filed\nGEAR_OTHER=x\n", encoding="utf-8")
    assert settings().alias(1) == "filed-1"


def test_bodies_pass_as_bytes_and_numbers_pass_unrounded() -> None:
    client = connect(settings())
    try:
        json = client.transport.serializer
        assert json.dumps(b'{"a":1}\n') == b'{"a":1}\n'
        assert json.dumps("x") == "x"
        assert json.loads(json.dumps({"float": 0.1500000059604645})) == {"float": 0.1500000059604645}
    finally:
        client.close()


async def test_a_certificate_file_is_taken_for_https(tmp_path: Path) -> None:
    import certifi

    client = connect_async(settings(opensearch_url="https://engine", opensearch_ca_certs=certifi.where()))
    try:
        assert [connection.host for connection in await connections_of(client)] == ["https://engine:443"]
    finally:
        await client.close()
    with pytest.raises(ValidationError, match="does not point to a file"):
        settings(opensearch_url="https://engine", opensearch_ca_certs=str(tmp_path / "absent.pem"))


@pytest.mark.parametrize("text", ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a_file_without_a_certificate_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "empty.pem"
    file.write_text(text)
    with pytest.raises(ValidationError, match=r"opensearch_ca_certs\n.*has no certificates that can be read"):
        settings(opensearch_url="https://engine", opensearch_ca_certs=str(file))
