"""No way inside: whatever a callback's address is or resolves to, nothing but the public internet is connected to."""

import asyncio
import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar

import pytest

from api.webhooks.addresses import Address, url_problem
from api.webhooks.payload import Message
from api.webhooks.resolver import MAX_ADDRESSES, Lookup, system_lookup
from api.webhooks.sender import Sender, SendResult
from tests.support.services.certificates import certificates
from tests.support.services.receiver import Receiver, responses

NAME = "shop.example.com"


class Names:
    """A name server: each question gets the next answer, the last one again and again."""

    def __init__(self, *replies: list[str]) -> None:
        self._replies = [[ip_address(address) for address in response] for response in replies]
        self.hosts: list[str] = []

    async def __call__(self, host: str) -> list[Address]:
        self.hosts.append(host)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


async def sent(
    url: str,
    lookup: Lookup = system_lookup,
    *,
    allow_insecure: bool = False,
    seconds: float = 10.0,
    trusted: ssl.SSLContext | None = None,
    sender_class: type[Sender] = Sender,
) -> SendResult:
    """One attempt at this address."""
    message = Message(url, b'{"type":"order.created"}', {"Content-Type": "application/json", "webhook-id": "msg_1"})
    async with sender_class(allow_insecure, lookup=lookup, seconds=seconds, certificates=trusted) as sender:
        return await sender.send(message)


class UncheckedText(Sender):
    """As if the check of the URL's text had a hole, to see that the ones after it have none."""

    let_through: ClassVar[list[str]] = []

    def problem_of(self, url: str) -> str | None:
        self.let_through.append(url)
        return None


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["0.0.0.0"],
        ["192.0.2.1"],
        ["224.0.0.1"],
        ["::1"],
        ["::"],
        ["fd00::1"],
        ["fe80::1"],
        ["::ffff:127.0.0.1"],
        ["::127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["64:ff9b:1::7f00:1"],
        ["2002:7f00:1::"],
        ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
        ["2606:4700::5efe:10.0.0.1"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1", "8.8.8.8"],
        ["2606:4700:4700::1111", "::ffff:10.0.0.1"],
    ],
    ids=" ".join,
)
async def test_a_name_with_any_inner_address_is_refused(addresses: list[str]) -> None:
    with Receiver() as receiver:
        names = Names(addresses)
        result = await sent(f"https://{NAME}:{receiver.port}/hook", names)
        assert (result.outcome, result.status_code) == ("refused", None)
        assert names.hosts == [NAME]
        assert receiver.connections == 0


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1."),
        *(
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "[::]",
            "0",
            "0.0.0.0",
        ),
        *("localhost", "localhost.", "LOCALHOST", "a.localhost", "127。0。0。1", "①②⑦.0.0.1", "user@127.0.0.1"),
        "user:password@shop.example.com",
    ],
)
async def test_a_text_that_gives_itself_away_is_refused_before_a_name_is_asked_for(host: str) -> None:
    with Receiver() as receiver:
        names = Names(["127.0.0.1"])
        result = await sent(f"https://{host}:{receiver.port}/", names)
        assert result.outcome == "refused"
        assert names.hosts == []
        assert receiver.connections == 0


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0"),
        *("[::1]", "[::ffff:127.0.0.1]", "localhost", "localhost.", "127。0。0。1"),
    ],
)
async def test_after_the_text_the_resolver_and_the_socket_check_again(host: str) -> None:
    with Receiver() as receiver:
        url = f"http://{host}:{receiver.port}/"
        result = await sent(url, sender_class=UncheckedText)
        assert UncheckedText.let_through[-1] == url
        # what the client itself takes for no address at all does not even come as far as our check
        assert result.outcome in ("refused", "unreachable")
        assert receiver.connections == 0


async def test_a_name_is_asked_for_once_and_connected_to_as_it_was_then() -> None:
    """DNS rebinding: a good answer first, an inner one for whoever asks again."""
    with Receiver() as receiver:
        names = Names(["127.0.0.2"], ["127.0.0.1"])  # nobody listens at the first
        result = await sent(f"http://{NAME}:{receiver.port}/hook", names, allow_insecure=True)
        assert result.outcome == "unreachable"
        assert names.hosts == [NAME]
        assert receiver.connections == 0


async def test_a_redirect_inside_is_not_followed() -> None:
    with Receiver() as inside, Receiver() as receiver:
        receiver.behaviour = responses(302, f"Location: {inside.url}")
        result = await sent(receiver.url, allow_insecure=True)
        assert (result.outcome, result.status_code) == ("rejected", 302)
        assert inside.connections == 0


async def test_http_is_for_development_only() -> None:
    with Receiver() as receiver:
        assert (await sent(receiver.url)).outcome == "refused"
        assert (await sent(receiver.url, allow_insecure=True)).outcome == "delivered"
        assert receiver.connections == 1


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Receiver() as proxy, Receiver() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert (await sent(receiver.url, allow_insecure=True)).outcome == "delivered"
        assert (proxy.connections, receiver.connections) == (0, 1)


async def test_nothing_is_remembered_between_attempts() -> None:
    with Receiver(responses(200, "Set-Cookie: session=1", "Connection: keep-alive")) as receiver:
        async with Sender(True) as sender:
            for _ in range(2):
                assert (await sender.send(Message(receiver.url, b"{}", {}))).outcome == "delivered"
        assert receiver.connections == 2
        for received in receiver.received:
            assert not {"cookie", "accept-encoding", "authorization", "referer"} & set(received.headers)


@pytest.mark.parametrize("host", [NAME, f"{NAME}.", NAME.upper(), "bücher.example", "xn--bcher-kva.example"])
async def test_the_name_is_the_one_of_the_certificate_and_of_the_host_header(tmp_path: Path, host: str) -> None:
    server, trusted = certificates(tmp_path, NAME, "xn--bcher-kva.example")
    with Receiver(certificates=server) as receiver:
        names = Names(["127.0.0.1"])
        url = f"https://{host}:{receiver.port}/hook"
        result = await sent(url, names, allow_insecure=True, trusted=trusted)
        assert (result.outcome, result.status_code) == ("delivered", 200)
        ascii_name = "xn--bcher-kva.example" if "cher" in host else NAME
        assert receiver.server_names == [ascii_name]
        assert receiver.received[0].headers["host"].removesuffix(f":{receiver.port}").rstrip(".") == ascii_name
        assert [name.rstrip(".") for name in names.hosts] == [ascii_name]


async def test_a_certificate_of_another_name_is_not_accepted(tmp_path: Path) -> None:
    server, trusted = certificates(tmp_path, "other.example.com")
    with Receiver(certificates=server) as receiver:
        url = f"https://{NAME}:{receiver.port}/hook"
        assert (await sent(url, Names(["127.0.0.1"]), allow_insecure=True, trusted=trusted)).outcome == "unreachable"
        assert (await sent(url, Names(["127.0.0.1"]), allow_insecure=True)).outcome == "unreachable"
        assert receiver.received == []


async def test_a_second_address_is_tried_where_the_first_does_not_answer() -> None:
    with Receiver() as receiver:
        names = Names(["::1", "127.0.0.1"])  # it listens on IPv4 alone
        url = f"http://{NAME}:{receiver.port}/hook"
        assert (await sent(url, names, allow_insecure=True)).outcome == "delivered"


async def test_a_name_without_end_or_without_address_is_not_reached() -> None:
    for addresses in ([], ["8.8.8.8"] * (MAX_ADDRESSES + 1)):
        assert (await sent(f"https://{NAME}/", Names(addresses))).outcome == "unreachable"
    assert (await sent("https://no-such-name.invalid/")).outcome == "unreachable"
    assert (await sent(f"https://{'a' * 64}.example/")).outcome == "refused"


async def test_a_slow_name_server_costs_its_own_attempt_alone() -> None:
    async def never(_: str) -> list[Address]:
        await asyncio.Event().wait()
        return []

    assert (await sent(f"https://{NAME}/", never, seconds=0.2)).outcome == "timeout"


def test_addresses_that_browsers_are_sent_to_keep_the_same_rules() -> None:
    for url in (
        "javascript:alert(1)",
        "data:text/html,x",
        "//shop.example.com",
        "https:shop.example.com",
        "https:///x",
    ):
        assert url_problem(url, allow_insecure=False)
        assert url_problem(url, allow_insecure=True)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/hook?x=%2f&y=a+b&z=%20", "/hook?x=%2f&y=a+b&z=%20"),
        ("/a/../b/./c//d", "/a/../b/./c//d"),
        ("/%7Euser/%e4?q={x}|'<y>\"", "/%7Euser/%e4?q={x}|'<y>\""),
        ("/ä?ö=%C3%B6", "/%C3%A4?%C3%B6=%C3%B6"),
        ("?only=query", "/?only=query"),
        ("/hook#fragment", "/hook"),
    ],
)
async def test_a_url_is_sent_as_it_was_given(path: str, target: str) -> None:
    with Receiver() as receiver:
        url = f"http://127.0.0.1:{receiver.port}{path}"
        assert url_problem(url, allow_insecure=True) is None
        assert (await sent(url, allow_insecure=True)).outcome == "delivered"
    assert [request.target for request in receiver.received] == [target]
